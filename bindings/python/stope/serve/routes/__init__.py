"""The API's routes, and what they share: parameters, descriptions, rows in."""
