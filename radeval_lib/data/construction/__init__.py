"""Construction of the data sets that users must build themselves from MIMIC.

Known flaws of the reference scripts are not copied. Each stands as a named switch, so that ``differences``
can count on given data how many reports it changes.
"""
