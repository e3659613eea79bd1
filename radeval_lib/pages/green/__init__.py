"""What GREEN's pages share: the judge's freeze and its validations, ceilings, planted errors, examples."""
