"""The widgets of stope in Orange's toolbox."""

NAME = "Stope"
DESCRIPTION = "Exact nearest neighbours, imputation, best cuts and local discretization trees."
BACKGROUND = "#cfe3d8"
ICON = "icons/category.svg"
PRIORITY = 1200
