"""What the five papers print, and what their released code does: exhibits, numbers, words, rules."""
