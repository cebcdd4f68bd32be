//! Whether what a page says can be read: the contrast of each text with what is behind it, as WCAG 2.1
//! asks for at level AA.
//!
//! In: a page that a browser shows. Out: the texts that are too faint, with their ratio.

use super::browser::Browser;
use serde_json::json;

/// Gives `text ratio` of each text below 4.5, or 3 where it is large. Colours are what a canvas makes
/// of them, one over the other from the page's ground up.
const FAINT: &str = "(() => { \
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 1; \
    const ctx = canvas.getContext('2d', {willReadFrequently: true}); \
    const over = (colours) => { ctx.clearRect(0, 0, 1, 1); \
      for (const c of colours) { ctx.fillStyle = c; ctx.fillRect(0, 0, 1, 1); } \
      return [...ctx.getImageData(0, 0, 1, 1).data].slice(0, 3); }; \
    const light = (rgb) => { const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)); \
      return 0.2126 * r + 0.7152 * g + 0.0722 * b; }; \
    const faint = []; let seen = 0; \
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); \
    while (walk.nextNode()) { \
      const e = walk.currentNode.parentElement; \
      if (!walk.currentNode.data.trim() || !e.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue; \
      const style = getComputedStyle(e); const grounds = []; \
      for (let up = e; up; up = up.parentElement) grounds.unshift(getComputedStyle(up).backgroundColor); \
      const colour = e instanceof SVGElement ? style.fill : style.color; \
      const ground = over(['#fff', ...grounds]); const ink = over(['#fff', ...grounds, colour]); \
      const [a, b] = [light(ground), light(ink)].sort((x, y) => y - x); const ratio = (a + 0.05) / (b + 0.05); \
      const size = parseFloat(style.fontSize); const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700); \
      seen += 1; \
      if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)} ${e.className} ${walk.currentNode.data.trim().slice(0, 40)}`); } \
    return [seen, faint]; })()";

/// The texts of the page that are too faint, light and dark; how many were looked at.
pub(super) fn faint(page: &mut Browser, at_least: u64) -> Vec<String> {
    let mut found = Vec::new();
    for scheme in ["light", "dark"] {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        page.call("Emulation.setEmulatedMedia", media);
        let answer = page.value(FAINT);
        let seen = answer[0].as_u64().expect("a count");
        assert!(seen >= at_least, "{seen} texts are shown");
        let each = answer[1].as_array().expect("a list").iter();
        found.extend(each.map(|text| format!("{scheme}: {text}")));
    }
    page.call("Emulation.setEmulatedMedia", json!({"features": []}));
    found
}

#[test]
fn a_faint_text_is_found() {
    let mut page = test_support::need!(Browser::start());
    let text = "data:text/html,<body style='background:%23fff;color:%23777'><p>faint</p><p style='color:%23000'>black</p>\
                <p style='background:rgba(0,0,0,.5);color:%23444'>grey on grey</p></body>";
    page.open(text, "document.querySelectorAll('p').length === 3");
    let found = faint(&mut page, 3);
    assert!(found.iter().any(|t| t.contains("faint")), "{found:?}");
    assert!(
        found.iter().any(|t| t.contains("grey on grey")),
        "{found:?}"
    );
    assert!(!found.iter().any(|t| t.contains("black")), "{found:?}");
}
