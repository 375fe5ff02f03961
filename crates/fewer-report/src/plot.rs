//! Plots as SVG files: lines, dots, boxes and bars over labelled axes, drawn by plotters. It is given points and ticks
//! and computes nothing from data but where to put ink. The colours are Okabe and Ito's, which colour-blind readers
//! tell apart; lines differ in dash and marker too, so that a black-and-white print can be read.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;

/// One axis: what it measures (with the unit), from where to where, and what is marked on it.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub label: String,
    pub from: f64,
    pub to: f64,
    pub ticks: Vec<Tick>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub label: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct LinePlot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub lines: Vec<Line>,
    /// Marks every point, for few points with space between them.
    pub markers: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

/// Points of several kinds, each kind with a colour and a shape of its own; nothing connects them.
#[derive(Debug, Clone, PartialEq)]
pub struct DotPlot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub kinds: Vec<Line>,
}

/// Distributions side by side: whiskers from least to greatest, a box of the middle half, the median.
#[derive(Debug, Clone, PartialEq)]
pub struct BoxPlot {
    pub title: String,
    pub x_label: String,
    pub y: Axis,
    pub boxes: Vec<Distribution>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    pub name: String,
    pub least: f64,
    pub lower_quartile: f64,
    pub median: f64,
    pub upper_quartile: f64,
    pub greatest: f64,
}

/// Amounts by name, from the top down, each with the text at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct BarPlot {
    pub title: String,
    pub x: Axis,
    pub bars: Vec<Bar>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    pub name: String,
    pub amount: f64,
    pub text: String,
}

/// Why a plot cannot be drawn; what is drawn comes from outside.
#[derive(Debug, thiserror::Error)]
#[error("the plot \"{title}\" cannot be drawn: {cause}")]
pub struct PlotError {
    pub title: String,
    pub cause: String,
}

impl Axis {
    /// 0 to 100 %, marked at every 20.
    pub fn percent(label: &str) -> Axis {
        Axis::even(label, 0.0, 100.0, 5)
    }

    /// Marked at `parts` + 1 places of equal distance.
    pub fn even(label: &str, from: f64, to: f64, parts: u32) -> Axis {
        let at = |part: u32| from + (to - from) * f64::from(part) / f64::from(parts);
        let ticks = (0..=parts).map(|part| Tick { at: at(part), label: short(at(part)) }).collect();
        Axis { label: label.to_owned(), from, to, ticks }
    }

    /// From 0 to a round number that is no less than `greatest`, marked at round numbers.
    pub fn amounts(label: &str, greatest: f64) -> Axis {
        let step = round_step(greatest.max(f64::MIN_POSITIVE) / 5.0);
        let parts = (greatest / step).ceil().max(1.0);
        Axis::even(label, 0.0, step * parts, parts as u32)
    }

    /// Names at equal distances: the n-th stands at n.
    pub fn names(label: &str, names: impl IntoIterator<Item = String>) -> Axis {
        let ticks: Vec<Tick> =
            names.into_iter().enumerate().map(|(at, label)| Tick { at: at as f64, label }).collect();
        Axis { label: label.to_owned(), from: -0.5, to: ticks.len().max(1) as f64 - 0.5, ticks }
    }
}

impl LinePlot {
    pub fn svg(&self) -> Result<String, PlotError> {
        drawn(&self.title, SIZE, |area| {
            let (plot, key) = area.split_horizontally(SIZE.0 as i32 - key_width(&self.lines));
            let mut chart = framed(&plot, &self.x, &self.y, Grid::Both)?;
            for (index, line) in self.lines.iter().enumerate() {
                let (points, stroke) = (line.points.iter().copied(), stroke(index));
                match dash(index) {
                    None => chart.draw_series(LineSeries::new(points, stroke))?,
                    Some((ink, gap)) => chart.draw_series(DashedLineSeries::new(points, ink, gap, stroke))?,
                };
                if self.markers {
                    let marks = line.points.iter().map(|point| Circle::new(*point, 3, stroke.filled()));
                    chart.draw_series(marks)?;
                }
            }
            for (index, line) in self.lines.iter().enumerate() {
                self.explain(&key, index, &line.name)?;
            }
            Ok(())
        })
    }

    /// A line of the legend, which stands beside the frame where it covers no point.
    fn explain(&self, key: &Area, index: usize, name: &str) -> Drawing {
        let middle = key_middle(index);
        let (ends, stroke) = ([(KEY_SAMPLE.0, middle), (KEY_SAMPLE.1, middle)], stroke(index));
        match dash(index) {
            None => key.draw(&PathElement::new(ends, stroke))?,
            Some((ink, gap)) => {
                key.draw(&plotters::element::DashedPathElement::new(ends, ink, gap, stroke))?
            }
        }
        if self.markers {
            key.draw(&Circle::new(((KEY_SAMPLE.0 + KEY_SAMPLE.1) / 2, middle), 3, stroke.filled()))?;
        }
        key_text(key, middle, name)
    }
}

impl DotPlot {
    pub fn svg(&self) -> Result<String, PlotError> {
        drawn(&self.title, SIZE, |area| {
            let (plot, key) = area.split_horizontally(SIZE.0 as i32 - key_width(&self.kinds));
            let chart = framed(&plot, &self.x, &self.y, Grid::Both)?;
            for (index, kind) in self.kinds.iter().enumerate() {
                let dots: Vec<(i32, i32)> = kind.points.iter().map(|dot| chart.backend_coord(dot)).collect();
                dots.into_iter().try_for_each(|dot| shape(area, index, dot))?;
                let middle = key_middle(index);
                shape(&key, index, ((KEY_SAMPLE.0 + KEY_SAMPLE.1) / 2, middle))?;
                key_text(&key, middle, &kind.name)?;
            }
            Ok(())
        })
    }
}

impl BoxPlot {
    pub fn svg(&self) -> Result<String, PlotError> {
        let x = Axis::names(&self.x_label, self.boxes.iter().map(|each| each.name.clone()));
        drawn(&self.title, SIZE, |area| {
            let mut chart = framed(area, &x, &self.y, Grid::OnlyY)?;
            for (index, each) in self.boxes.iter().enumerate() {
                let (at, colour) = (index as f64, PALETTE[index % PALETTE.len()]);
                let stroke = BLACK.stroke_width(1);
                chart.draw_series([
                    PathElement::new(vec![(at, each.least), (at, each.lower_quartile)], stroke),
                    PathElement::new(vec![(at, each.upper_quartile), (at, each.greatest)], stroke),
                    PathElement::new(vec![(at - 0.12, each.least), (at + 0.12, each.least)], stroke),
                    PathElement::new(vec![(at - 0.12, each.greatest), (at + 0.12, each.greatest)], stroke),
                ])?;
                let corners = [(at - 0.25, each.lower_quartile), (at + 0.25, each.upper_quartile)];
                chart.draw_series([
                    Rectangle::new(corners, colour.mix(0.6).filled()),
                    Rectangle::new(corners, stroke),
                ])?;
                let median = vec![(at - 0.25, each.median), (at + 0.25, each.median)];
                chart.draw_series([PathElement::new(median, BLACK.stroke_width(3))])?;
            }
            Ok(())
        })
    }
}

impl BarPlot {
    pub fn svg(&self) -> Result<String, PlotError> {
        let height = TITLE_HEIGHT as u32 + 80 + 32 * self.bars.len() as u32;
        let names = self.bars.iter().rev().map(|bar| bar.name.clone());
        let y = Axis::names("", names);
        drawn(&self.title, (SIZE.0, height), |area| {
            let mut chart = framed(area, &self.x, &y, Grid::OnlyX)?;
            for (index, bar) in self.bars.iter().rev().enumerate() {
                let at = index as f64;
                chart.draw_series([Rectangle::new(
                    [(0.0, at - 0.3), (bar.amount, at + 0.3)],
                    PALETTE[0].filled(),
                )])?;
                // The text stands inside the bar where the frame's edge leaves no place behind it.
                let inside = bar.amount > self.x.from + 0.8 * (self.x.to - self.x.from);
                let (side, colour, gap) =
                    if inside { (HPos::Right, &WHITE, -6) } else { (HPos::Left, &BLACK, 6) };
                let style =
                    TextStyle::from((FONT, FONT_SIZE)).color(colour).pos(Pos::new(side, VPos::Center));
                let (x, y) = chart.backend_coord(&(bar.amount, at));
                area.draw(&Text::new(bar.text.clone(), (x + gap, y), style))?;
            }
            Ok(())
        })
    }
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawing = Result<(), Box<dyn std::error::Error>>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<TickedAxis, TickedAxis>>;

const SIZE: (u32, u32) = (840, 480);
const FONT: &str = "sans-serif";
const FONT_SIZE: i32 = 14;
const TITLE_HEIGHT: i32 = 44;
/// Where the sample of a line begins and ends in the legend.
const KEY_SAMPLE: (i32, i32) = (4, 48);

/// Okabe and Ito's, but for a darker yellow that shows on white.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
    RGBColor(140, 120, 0),
];

enum Grid {
    Both,
    OnlyX,
    OnlyY,
}

/// Ticks where the view says, not where plotters would put them.
struct TickedAxis {
    range: Range<f64>,
    ticks: Vec<Tick>,
}

impl TickedAxis {
    fn of(axis: &Axis) -> TickedAxis {
        TickedAxis { range: axis.from..axis.to, ticks: axis.ticks.clone() }
    }
}

impl Ranged for TickedAxis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|tick| tick.at).collect()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for TickedAxis {
    fn format_ext(&self, value: &f64) -> String {
        self.ticks.iter().find(|tick| tick.at == *value).map_or_else(String::new, |tick| tick.label.clone())
    }
}

fn drawn(title: &str, size: (u32, u32), draw: impl FnOnce(&Area) -> Drawing) -> Result<String, PlotError> {
    let mut svg = String::new();
    let result = (|| -> Drawing {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        area.fill(&WHITE)?;
        let heading = TextStyle::from((FONT, 18)).pos(Pos::new(HPos::Left, VPos::Center));
        area.draw(&Text::new(title.to_owned(), (16, TITLE_HEIGHT / 2), heading))?;
        draw(&area)?;
        area.present()?;
        Ok(())
    })();
    match result {
        Ok(()) => Ok(svg),
        Err(cause) => Err(PlotError { title: title.to_owned(), cause: cause.to_string() }),
    }
}

fn framed<'a, 'b>(
    area: &'a Area<'b>,
    x: &Axis,
    y: &Axis,
    grid: Grid,
) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
    let longest = y.ticks.iter().map(|tick| tick.label.chars().count()).max().unwrap_or(0);
    let label_space = text_width(longest) + if y.label.is_empty() { 8 } else { 30 };
    let mut chart = ChartBuilder::on(area)
        .margin_top(TITLE_HEIGHT)
        .margin_right(20)
        .margin_bottom(8)
        .margin_left(8)
        .x_label_area_size(48)
        .y_label_area_size(label_space)
        .build_cartesian_2d(TickedAxis::of(x), TickedAxis::of(y))?;
    let mut mesh = chart.configure_mesh();
    mesh.x_desc(&x.label)
        .y_desc(&y.label)
        .axis_desc_style((FONT, FONT_SIZE + 1))
        .label_style((FONT, FONT_SIZE))
        .light_line_style(TRANSPARENT)
        .bold_line_style(BLACK.mix(0.12))
        .x_labels(x.ticks.len())
        .y_labels(y.ticks.len());
    match grid {
        Grid::Both => {}
        Grid::OnlyX => drop(mesh.disable_y_mesh()),
        Grid::OnlyY => drop(mesh.disable_x_mesh()),
    }
    mesh.draw()?;
    Ok(chart)
}

fn stroke(index: usize) -> ShapeStyle {
    PALETTE[index % PALETTE.len()].stroke_width(2)
}

fn key_width(lines: &[Line]) -> i32 {
    let longest = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    KEY_SAMPLE.1 + 16 + text_width(longest)
}

fn key_middle(index: usize) -> i32 {
    TITLE_HEIGHT + 14 + 22 * index as i32
}

fn key_text(key: &Area, middle: i32, name: &str) -> Drawing {
    let text = TextStyle::from((FONT, FONT_SIZE)).pos(Pos::new(HPos::Left, VPos::Center));
    key.draw(&Text::new(name.to_owned(), (KEY_SAMPLE.1 + 8, middle), text))?;
    Ok(())
}

/// A disc, square, triangle, cross or ring.
fn shape(area: &Area, index: usize, at: (i32, i32)) -> Drawing {
    let style = PALETTE[index % PALETTE.len()];
    let (x, y) = at;
    match index % 5 {
        0 => area.draw(&Circle::new(at, 6, style.filled()))?,
        1 => area.draw(&Rectangle::new([(x - 6, y - 6), (x + 6, y + 6)], style.filled()))?,
        2 => area.draw(&TriangleMarker::new(at, 8, style.filled()))?,
        3 => area.draw(&Cross::new(at, 6, style.stroke_width(3)))?,
        _ => area.draw(&Circle::new(at, 6, style.stroke_width(2)))?,
    }
    Ok(())
}

/// Pixels of ink and of gap.
fn dash(index: usize) -> Option<(i32, i32)> {
    [None, Some((9, 4)), Some((3, 3))][index % 3]
}

/// About what a text of so many characters takes: SVG leaves the letters to the viewer.
fn text_width(characters: usize) -> i32 {
    (characters as f64 * f64::from(FONT_SIZE) * 0.56).ceil() as i32
}

/// 1, 2 or 5 times a power of ten, no less than `least`.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| *step >= least).unwrap_or(power)
}

fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(count: usize) -> LinePlot {
        let line = |index: usize| Line {
            name: format!("algorithm <{index}>"),
            points: (0..=100)
                .map(|x| (f64::from(x), 100.0 * (1.0 - f64::from(x) / 100.0).powi(index as i32 + 1)))
                .collect(),
        };
        LinePlot {
            title: "Safe selections & more".to_owned(),
            x: Axis::percent("skipped tests (%)"),
            y: Axis::percent("safe selections (%)"),
            lines: (0..count).map(line).collect(),
            markers: false,
        }
    }

    /// The texts of a well-formed document.
    fn texts(svg: &str) -> Vec<String> {
        let mut reader = quick_xml::Reader::from_str(svg);
        let (mut texts, mut open) = (Vec::new(), String::new());
        loop {
            match reader.read_event().expect("well-formed") {
                quick_xml::events::Event::Text(text) => open.push_str(&text),
                quick_xml::events::Event::GeneralRef(name) => open.push_str(match &*name {
                    "lt" => "<",
                    "gt" => ">",
                    "amp" => "&",
                    other => panic!("&{other};"),
                }),
                quick_xml::events::Event::End(_) => texts.push(std::mem::take(&mut open).trim().to_owned()),
                quick_xml::events::Event::Eof => break,
                _ => {}
            }
        }
        texts
    }

    #[test]
    fn a_line_plot_names_its_axes_and_every_line_once() {
        let texts = texts(&lines(8).svg().unwrap());
        for text in
            ["Safe selections & more", "skipped tests (%)", "safe selections (%)", "100", "algorithm <7>"]
        {
            let expected = if text == "100" { 2 } else { 1 };
            assert_eq!(texts.iter().filter(|each| *each == text).count(), expected, "{text}: {texts:?}");
        }
    }

    #[test]
    fn dots_of_a_kind_have_a_shape_and_are_in_the_legend() {
        let dots = |name: &str, at: f64| Line { name: name.to_owned(), points: vec![(at, 0.0), (at, 1.0)] };
        let plot = DotPlot {
            title: "Results".to_owned(),
            x: Axis::names("commit", ["1", "2"].map(str::to_owned)),
            y: Axis::names("result", ["fail", "pass"].map(str::to_owned)),
            kinds: vec![dots("safe", 0.0), dots("unsafe", 1.0)],
        };
        let svg = plot.svg().unwrap();
        // Two points and the legend's.
        assert_eq!(svg.matches("<circle").count(), 3);
        let texts = texts(&svg);
        assert!(texts.contains(&"unsafe".to_owned()) && texts.contains(&"pass".to_owned()), "{texts:?}");
    }

    #[test]
    fn neighbouring_lines_differ_in_colour_and_in_dash() {
        for index in 0..PALETTE.len() - 1 {
            assert_ne!(stroke(index).color, stroke(index + 1).color);
            assert_ne!(dash(index), dash(index + 1));
        }
    }

    #[test]
    fn amounts_end_at_a_round_number_above_the_greatest() {
        let ends = |greatest| {
            let axis = Axis::amounts("", greatest);
            (axis.to, axis.ticks.len())
        };
        assert_eq!(ends(100.0), (100.0, 6));
        assert_eq!(ends(101.0), (150.0, 4));
        assert_eq!(ends(7.3), (8.0, 5));
        assert_eq!(ends(0.0).1, 2);
    }

    #[test]
    fn boxes_and_bars_stand_beside_their_names() {
        let distribution = |name: &str, median| Distribution {
            name: name.to_owned(),
            least: 0.0,
            lower_quartile: median / 2.0,
            median,
            upper_quartile: 2.0 * median,
            greatest: 3.0 * median,
        };
        let boxes = BoxPlot {
            title: "Loss".to_owned(),
            x_label: "distance (commits)".to_owned(),
            y: Axis::percent("lost requirements (%)"),
            boxes: vec![distribution("1", 5.0), distribution("2", 20.0)],
        };
        assert!(texts(&boxes.svg().unwrap()).contains(&"distance (commits)".to_owned()));
        let bar =
            |name: &str, amount: f64| Bar { name: name.to_owned(), amount, text: format!("{amount} %") };
        let bars = BarPlot {
            title: "Sources".to_owned(),
            x: Axis::percent("transitions (%)"),
            bars: vec![bar("flaky by rerun", 90.2), bar("genuine", 9.8)],
        };
        let texts = texts(&bars.svg().unwrap());
        assert!(texts.contains(&"genuine".to_owned()) && texts.contains(&"9.8 %".to_owned()), "{texts:?}");
    }
}
