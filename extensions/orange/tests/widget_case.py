"""What the widgets' tests share."""

from Orange.widgets.tests.base import WidgetTest


class WidgetCase(WidgetTest):
    """One widget, its errors as text, and its settings in another session.

    Attributes
    ----------
    widget_class : type
        What is opened for each test.
    """

    widget_class = None

    def setUp(self):
        super().setUp()
        self.widget = self.create_widget(self.widget_class)

    def give(self, data):
        self.send_signal(self.widget.Inputs.data, data, widget=self.widget)
        self.wait_until_finished(self.widget, timeout=60_000)

    def sent(self, output):
        """What an output of the widget has, by its name in ``Outputs``."""
        return self.get_output(getattr(self.widget.Outputs, output), widget=self.widget)

    def shown(self, group):
        """The messages of a group that are shown: "Error", "Warning" or "Information"."""
        return [str(message) for message in getattr(self.widget, group).active]

    def draw(self):
        """Show the widget and draw it, as a person sees it; returns how many colours the picture has."""
        self.widget.show()
        self.process_events()
        image = self.widget.grab().toImage()
        self.widget.hide()
        return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})

    def choose(self, combo, index):
        combo.setCurrentIndex(index)
        combo.activated[int].emit(index)
        self.wait_until_finished(self.widget)

    def reopened(self, **changes):
        """A widget as a saved workflow opens it: with these settings of the present one."""
        settings = self.widget.settingsHandler.pack_data(self.widget)
        settings.update(changes)
        return self.create_widget(type(self.widget), stored_settings=settings)

    def assert_says(self, messages, words):
        self.assertTrue(any(words in text for text in messages), f"{words!r} is not said by {messages}")
