//! A table of figures on its way to a file: CSV for spreadsheets, Parquet for data programs, JSON for scripts, with the
//! same names and rows in each.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema};
use serde_json::{Map, Value, json};

use crate::error::LabError;
use crate::records::{open_writer, record_properties};

/// Columns of equal length, with what they are about.
#[derive(Clone, PartialEq, Debug)]
pub struct Table {
    /// Names the files: `figure-4`, `summary`.
    pub name: String,
    pub title: String,
    columns: Vec<(&'static str, Column)>,
}

/// The values of a column; nothing where nothing is known.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
    Number(Vec<Option<f64>>),
}

/// One value.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    Text(String),
    Integer(i64),
    Number(f64),
    Nothing,
}

impl Table {
    /// A table without rows; each column begins as the kind of its sample.
    pub fn new(
        name: impl Into<String>,
        title: impl Into<String>,
        columns: &[(&'static str, Column)],
    ) -> Table {
        Table { name: name.into(), title: title.into(), columns: columns.to_vec() }
    }

    /// Adds a row, a cell per column.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells = cells.into_iter();
        for (name, column) in &mut self.columns {
            match (column, cells.next()) {
                (Column::Text(values), Some(Cell::Text(value))) => values.push(Some(value)),
                (Column::Integer(values), Some(Cell::Integer(value))) => values.push(Some(value)),
                (Column::Number(values), Some(Cell::Number(value))) => values.push(Some(value)),
                (Column::Text(values), Some(Cell::Nothing)) => values.push(None),
                (Column::Integer(values), Some(Cell::Nothing)) => values.push(None),
                (Column::Number(values), Some(Cell::Nothing)) => values.push(None),
                (_, cell) => panic!("column '{name}' cannot take {cell:?}"),
            }
        }
        assert!(cells.next().is_none(), "a row has a cell per column");
    }

    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, |(_, column)| column.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|(name, _)| *name).collect()
    }

    pub fn cell(&self, row: usize, column: usize) -> Cell {
        self.columns[column].1.cell(row)
    }

    /// Writes `NAME.csv`, `NAME.parquet` and `NAME.json` into a directory.
    pub fn write(&self, directory: &Path) -> Result<(), LabError> {
        let file = |extension: &str| directory.join(format!("{}.{extension}", self.name));
        let text = |path: &Path, text: String| fs::write(path, text).map_err(LabError::io("write", path));
        text(&file("csv"), self.csv())?;
        text(&file("json"), format!("{:#}\n", self.json()))?;
        let path = file("parquet");
        let batch = self.batch();
        let properties = record_properties("fewer-simulate-table/1").build();
        let mut writer = open_writer(&path, &batch.schema(), properties)?;
        writer.write(&batch).map_err(LabError::parquet(&path))?;
        writer.close().map_err(LabError::parquet(&path))?;
        Ok(())
    }

    pub fn csv(&self) -> String {
        let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
        let written = "a vector takes everything";
        writer.write_record(self.names()).expect(written);
        for row in 0..self.len() {
            let cells = self.columns.iter().map(|(_, column)| match column.cell(row) {
                Cell::Text(text) => text,
                Cell::Integer(number) => number.to_string(),
                Cell::Number(number) => number.to_string(),
                Cell::Nothing => String::new(),
            });
            writer.write_record(cells).expect(written);
        }
        String::from_utf8(writer.into_inner().expect(written)).expect("cells are text")
    }

    /// `fewer-simulate-table/1`.
    pub fn json(&self) -> Value {
        let row = |row: usize| -> Value {
            let cells = self.columns.iter().map(|(name, column)| {
                let value = match column.cell(row) {
                    Cell::Text(text) => json!(text),
                    Cell::Integer(number) => json!(number),
                    Cell::Number(number) => json!(number),
                    Cell::Nothing => Value::Null,
                };
                (name.to_string(), value)
            });
            Value::Object(cells.collect::<Map<_, _>>())
        };
        json!({
            "format": "fewer-simulate-table/1",
            "name": self.name,
            "title": self.title,
            "columns": self.names(),
            "rows": (0..self.len()).map(row).collect::<Vec<_>>(),
        })
    }

    pub fn batch(&self) -> RecordBatch {
        let fields = self.columns.iter().map(|(name, column)| {
            let kind = match column {
                Column::Text(_) => DataType::Utf8,
                Column::Integer(_) => DataType::Int64,
                Column::Number(_) => DataType::Float64,
            };
            Field::new(*name, kind, true)
        });
        let columns = self.columns.iter().map(|(_, column)| -> ArrayRef {
            match column {
                Column::Text(values) => {
                    Arc::new(values.iter().map(Option::as_deref).collect::<StringArray>())
                }
                Column::Integer(values) => Arc::new(values.iter().copied().collect::<Int64Array>()),
                Column::Number(values) => Arc::new(values.iter().copied().collect::<Float64Array>()),
            }
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        RecordBatch::try_new(schema, columns.collect()).expect("the columns are those of the schema")
    }
}

impl Column {
    pub const TEXT: Column = Column::Text(Vec::new());
    pub const INTEGER: Column = Column::Integer(Vec::new());
    pub const NUMBER: Column = Column::Number(Vec::new());

    fn len(&self) -> usize {
        match self {
            Column::Text(values) => values.len(),
            Column::Integer(values) => values.len(),
            Column::Number(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> Cell {
        match self {
            Column::Text(values) => values[row].clone().map_or(Cell::Nothing, Cell::Text),
            Column::Integer(values) => values[row].map_or(Cell::Nothing, Cell::Integer),
            Column::Number(values) => values[row].map_or(Cell::Nothing, Cell::Number),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Integer(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Integer(number as i64)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Nothing, Into::into)
    }
}
