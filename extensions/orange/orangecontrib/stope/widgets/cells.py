"""A small read-only table beside the controls of a widget."""

from AnyQt.QtCore import Qt
from AnyQt.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem

__all__ = ["fill_cells", "table_of"]


def table_of(titles):
    """An empty table with these titles."""
    table = QTableWidget(0, len(titles))
    table.setHorizontalHeaderLabels(titles)
    table.setEditTriggers(QAbstractItemView.NoEditTriggers)
    table.verticalHeader().hide()
    table.horizontalHeader().setStretchLastSection(True)
    table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeToContents)
    table.setMinimumWidth(380)
    return table


def fill_cells(table, rows):
    """Show these rows in the place of those that are there; whole numbers stand on the right."""
    table.setRowCount(len(rows))
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            item = QTableWidgetItem(str(cell))
            if isinstance(cell, int):
                item.setTextAlignment(Qt.AlignRight | Qt.AlignVCenter)
            table.setItem(row, column, item)
