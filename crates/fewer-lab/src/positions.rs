//! Sets of positions of commits on their way through JSON: the portable bytes of the bitmap, as hexadecimal digits.

use roaring::RoaringBitmap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub fn serialize<S: Serializer>(bitmap: &RoaringBitmap, serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::new();
    bitmap.serialize_into(&mut bytes).map_err(serde::ser::Error::custom)?;
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.serialize(serializer)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RoaringBitmap, D::Error> {
    let digits = String::deserialize(deserializer)?;
    let byte = |at| u8::from_str_radix(digits.get(at..at + 2).unwrap_or_default(), 16);
    let bytes = (0..digits.len()).step_by(2).map(byte).collect::<Result<Vec<u8>, _>>();
    let bytes = bytes.map_err(serde::de::Error::custom)?;
    RoaringBitmap::deserialize_from(&bytes[..]).map_err(serde::de::Error::custom)
}
