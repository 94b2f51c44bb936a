namespace stope {}
