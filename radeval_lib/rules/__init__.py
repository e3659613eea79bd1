"""Read a report by rules, judge a candidate against a reference, and generate reports with gold."""
