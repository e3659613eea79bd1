"""Report cards for metrics: agreement with human raters, statistical power, detected edits and behaviour."""
