//! What a line asks for.

use core::fmt;

use heapless::Vec;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json_core::de::Deserializer as Json;

use crate::refusal::{Place, Refusal};

/// One request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Request<'l> {
    /// A row of so many numbers, which stand in the row's memory as far as
    /// they fit.
    Row { given: usize },
    /// A sample of a stream, so many numbers, as a row's.
    Sample { given: usize },
    /// That the next sample does not follow the last one.
    RestartStream,
    /// That the latest samples of the stream, as many as a window has, are of this class.
    Learn { class: u8 },
    /// What the device and its model are.
    Info,
    /// Whether this build computes what the trainer computed.
    SelfTest,
    /// A piece of a new model.
    Model(Chunk<'l>),
    /// Forget what has come of a new model.
    Abort,
}

/// A piece of a new model.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chunk<'l> {
    /// Where its bytes belong.
    pub offset: u32,
    /// Bytes of the whole model.
    pub size: u32,
    /// The bytes, in base64.
    pub data: &'l str,
}

/// Reads the request in `line`, a row's numbers into `row`.
pub(crate) fn parse<'l, const ROW: usize>(
    line: &'l [u8],
    row: &mut Vec<f32, ROW>,
) -> Result<Request<'l>, Refusal> {
    row.clear();
    let mut place = Place::Request;
    let mut json = Json::new(line, None);
    let request = json.deserialize_map(RequestVisitor { row, place: &mut place });
    request
        .and_then(|request| json.end().map(|_| request))
        .map_err(|error| Refusal::Request { place, error: error.into() })
}

struct RequestVisitor<'r, const ROW: usize> {
    row: &'r mut Vec<f32, ROW>,
    place: &'r mut Place,
}

impl<'l, const ROW: usize> Visitor<'l> for RequestVisitor<'_, ROW> {
    type Value = Request<'l>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a request")
    }

    fn visit_map<A: MapAccess<'l>>(self, mut map: A) -> Result<Request<'l>, A::Error> {
        let Some(key) = map.next_key::<&str>()? else {
            return Err(A::Error::custom("no request"));
        };
        let request = match key {
            "x" => {
                *self.place = Place::Row { read: 0 };
                let given = map.next_value_seed(RowSeed { row: self.row, place: self.place })?;
                Request::Row { given }
            }
            "sample" => {
                *self.place = Place::Row { read: 0 };
                let given = map.next_value_seed(RowSeed { row: self.row, place: self.place })?;
                Request::Sample { given }
            }
            "restart_stream" => {
                flag(&mut map, self.place, "restart_stream", Request::RestartStream)?
            }
            "learn" => {
                *self.place = Place::Class;
                Request::Learn { class: map.next_value()? }
            }
            "info" => flag(&mut map, self.place, "info", Request::Info)?,
            "self_test" => flag(&mut map, self.place, "self_test", Request::SelfTest)?,
            "abort" => flag(&mut map, self.place, "abort", Request::Abort)?,
            "model" => {
                *self.place = Place::Chunk;
                Request::Model(map.next_value()?)
            }
            _ => {
                *self.place = Place::UnknownRequest;
                return Err(A::Error::custom("unknown request"));
            }
        };
        *self.place = Place::End;
        Ok(request)
    }
}

fn flag<'l, A: MapAccess<'l>>(
    map: &mut A,
    place: &mut Place,
    name: &'static str,
    request: Request<'l>,
) -> Result<Request<'l>, A::Error> {
    *place = Place::Flag(name);
    if map.next_value::<bool>()? { Ok(request) } else { Err(A::Error::custom("not true")) }
}

/// Reads all numbers, keeps those that fit and counts the others too, so that
/// an error can say how many there were.
struct RowSeed<'r, const ROW: usize> {
    row: &'r mut Vec<f32, ROW>,
    place: &'r mut Place,
}

impl<'l, const ROW: usize> DeserializeSeed<'l> for RowSeed<'_, ROW> {
    type Value = usize;

    fn deserialize<D: Deserializer<'l>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'l, const ROW: usize> Visitor<'l> for RowSeed<'_, ROW> {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of numbers")
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut seq: A) -> Result<usize, A::Error> {
        let mut given = 0;
        // `null` is NaN.
        while let Some(number) = seq.next_element::<f32>()? {
            let _ = self.row.push(number);
            given += 1;
            *self.place = Place::Row { read: given };
        }
        Ok(given)
    }
}
