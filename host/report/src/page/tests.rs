use super::plot::{Plot, PlotError, pareto};
use super::{Figure, Page, chart, heat, is_number};

fn markup(figure: &Figure) -> String {
    figure.markup.clone().into_string()
}

#[test]
fn text_is_escaped_everywhere() {
    let evil = "<script>alert('x')</script> & \"quotes\"";
    let mut page = Page::new(evil);
    page.heading(evil).text(evil).warning(evil).code(evil).subheading(evil);
    page.table(evil, &[evil, evil], [[evil, evil]]);
    page.facts(evil, [("name", evil)]);
    let plot = Plot::new(evil, evil).series(evil, [(1.0, 2.0), (3.0, 4.0)]);
    page.figure(&plot.draw().unwrap(), evil);
    page.figure(&heat::confusion(&[evil.to_owned()], &[vec![3]]), evil);
    let html = page.render();
    assert!(!html.contains("<script"));
    assert!(html.contains("&lt;script&gt;"));
}

#[test]
fn a_page_asks_for_nothing() {
    let mut page = Page::new("a page");
    page.heading("one")
        .figure(&Plot::new("x", "y").scatter("s", [(1.0, 1.0)]).draw().unwrap(), "c");
    let html = page.render();
    let addresses: Vec<&str> = html.split("http").skip(1).collect();
    // The name space of SVG and the attribute http-equiv ask for nothing.
    assert!(
        addresses
            .iter()
            .all(|a| a.starts_with("://www.w3.org/2000/svg") || a.starts_with("-equiv")),
        "{addresses:?}"
    );
    assert!(!html.contains("src=") && !html.contains("@import") && !html.contains("url("));
}

#[test]
fn figures_in_a_row_share_a_row_and_have_names() {
    let figure = Plot::new("K", "error").series("a", [(1.0, 2.0)]).draw().unwrap();
    let mut page = Page::new("a page");
    page.heading("h").figure(&figure, "first").figure(&figure, "second").text("t");
    page.figure(&figure, "third");
    let html = page.render();
    assert_eq!(html.matches("<div class=\"columns\">").count(), 2);
    assert_eq!(html.matches("role=\"img\" aria-label=\"error over K: a\"").count(), 3);
}

#[test]
fn points_stand_where_they_belong() {
    let plot = Plot::new("x", "y").range_x(0.0, 10.0).range_y(0.0, 1.0);
    let svg = markup(&plot.scatter("", [(0.0, 0.0), (5.0, 0.5), (10.0, 1.0)]).draw().unwrap());
    let at = |name: &str| -> Vec<f64> {
        svg.split("<circle")
            .skip(1)
            .map(|c| {
                let value = c.split(&format!("{name}=\"")).nth(1).unwrap();
                value.split('"').next().unwrap().parse().unwrap()
            })
            .collect()
    };
    let (xs, ys) = (at("cx"), at("cy"));
    assert_eq!(xs.len(), 3);
    assert!((xs[1] - f64::midpoint(xs[0], xs[2])).abs() <= 1.0 && xs[0] < xs[2]);
    assert!((ys[1] - f64::midpoint(ys[0], ys[2])).abs() <= 1.0 && ys[0] > ys[2]);
}

#[test]
fn a_logarithmic_axis_spaces_ratios_evenly_and_refuses_zero() {
    let plot = |points: [(f64, f64); 3]| Plot::new("x", "y").log_x().scatter("s", points).draw();
    let svg = markup(&plot([(1.0, 0.0), (10.0, 0.0), (100.0, 0.0)]).unwrap());
    let xs: Vec<i32> = svg
        .split("cx=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect();
    assert!((xs[2] - xs[1] - (xs[1] - xs[0])).abs() <= 1, "{xs:?}");
    let refused = plot([(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]);
    assert!(matches!(&refused, Err(PlotError::Value { axis, .. }) if axis == "x"), "{refused:?}");
}

#[test]
fn values_that_are_not_numbers_are_refused() {
    let bad = Plot::new("x", "y").series("s", [(1.0, f64::NAN)]).draw();
    assert!(matches!(bad, Err(PlotError::Value { .. })));
    assert!(matches!(Plot::new("x", "y").draw(), Err(PlotError::Empty)));
    let none: [(f64, f64); 0] = [];
    assert!(matches!(Plot::new("x", "y").series("s", none).draw(), Err(PlotError::Empty)));
}

#[test]
fn the_front_holds_what_nothing_beats() {
    let points = [(3.0, 1.0), (1.0, 5.0), (2.0, 2.0), (2.0, 3.0), (4.0, 1.0), (5.0, 0.5)];
    assert_eq!(pareto(&points), [1, 2, 0, 5]);
    // The definition, without sorting.
    let beaten =
        |&(x, y): &(f64, f64)| points.iter().any(|&(a, b)| a <= x && b <= y && (a < x || b < y));
    for (index, point) in points.iter().enumerate() {
        assert_eq!(!pareto(&points).contains(&index), beaten(point));
    }
    let svg = markup(&Plot::new("x", "y").front("models", points).draw().unwrap());
    assert_eq!(svg.matches("<circle").count(), points.len());
}

#[test]
fn reliability_counts_by_bin() {
    let predictions = [(0.05, false), (0.05, true), (0.95, true), (1.0, true), (0.31, false)];
    let bins = chart::reliability_bins(&predictions);
    assert_eq!(bins.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [2, 1, 2]);
    assert!((bins[0].observed - 0.5).abs() < 1e-12 && (bins[0].predicted - 0.05).abs() < 1e-12);
    assert!((bins[2].predicted - 0.975).abs() < 1e-12 && (bins[2].observed - 1.0).abs() < 1e-12);
    // (2·0.45 + 1·0.31 + 2·0.025)/5.
    assert!((chart::calibration_error(&bins) - 0.252).abs() < 1e-12);
    assert!(chart::reliability(&[("model", &bins)]).is_ok());
}

#[test]
fn the_interval_of_a_share_is_wilsons() {
    // 8 of 10: 0.4902 to 0.9433 (Brown, Cai, DasGupta 2001, equation 4).
    let (low, high) = chart::wilson(0.8, 10);
    assert!((low - 0.4902).abs() < 1e-3 && (high - 0.9433).abs() < 1e-3, "{low} {high}");
    assert_eq!(chart::wilson(0.0, 5).0, 0.0);
}

#[test]
fn a_histogram_counts_every_value() {
    let values: Vec<f64> = (0..100).map(f64::from).collect();
    let figure = chart::histogram("value", &values, 4).unwrap();
    let rows = &figure.numbers.unwrap().rows;
    assert!(rows.iter().all(|row| row[2] == "25"), "{rows:?}");
    assert!(chart::histogram("value", &[3.0, 3.0], 4).is_ok());
    assert!(chart::histogram("value", &[f64::INFINITY], 4).is_err());
}

#[test]
fn colours_are_replaced_in_the_dark() {
    let svg = markup(&Plot::new("x", "y").series("s", [(1.0, 2.0), (2.0, 3.0)]).draw().unwrap());
    let rules = super::colour::dark_rules();
    for attribute in ["fill=\"#", "stroke=\"#"] {
        for rest in svg.split(attribute).skip(1) {
            let colour = &rest[..6];
            assert!(rules.contains(&format!("#{colour}\"]")), "#{colour} stays light");
        }
    }
}

#[test]
fn numbers_are_told_from_words() {
    for yes in ["3", "-1.5", "4.2 %", "1.2 ± 0.1", "340 B", "–", "<0.1"] {
        assert!(is_number(yes), "{yes}");
    }
    for no in ["fourier", "", "a9a", "3 inputs left"] {
        assert!(!is_number(no), "{no}");
    }
}
