// The contrast of texts with what lies behind them, as WCAG 2 computes it, for [text, background] selectors.
(pairs) => {
  const part = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\d.]+/g).map((value) => part(Number(value) / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const style = (selector) => getComputedStyle(document.querySelector(selector));
  return pairs.map(([text, back]) => {
    const colour = style(text)[text.endsWith("svg text") ? "fill" : "color"];
    const [high, low] = [light(colour), light(style(back).backgroundColor)].sort((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  });
};
