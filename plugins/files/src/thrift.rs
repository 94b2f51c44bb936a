//! Thrift's compact protocol, as far as one has to read it to count and to skip.

use crate::border::{invalid, Outcome, Trouble};

const DEEPEST: u32 = 12;

fn damaged() -> Trouble {
    invalid("a header or a list in it is damaged")
}

/// Bytes from a place on.
pub struct Reader<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl Reader<'_> {
    /// Calls `take` with the number and the kind of each field of a struct; it reads or skips the value.
    pub fn fields(
        &mut self,
        depth: u32,
        take: &mut dyn FnMut(&mut Self, i64, u8) -> Outcome<()>,
    ) -> Outcome<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        let mut number = 0_i64;
        loop {
            let byte = self.byte()?;
            if byte == 0 {
                return Ok(());
            }
            let step = i64::from(byte >> 4);
            number = if step == 0 {
                self.integer()?
            } else {
                number + step
            };
            take(self, number, byte & 15)?;
        }
    }

    pub fn skip(&mut self, kind: u8, depth: u32) -> Outcome<()> {
        if depth > DEEPEST {
            return Err(damaged());
        }
        match kind {
            1 | 2 => Ok(()),
            3 => self.advance(1),
            4..=6 => self.integer().map(|_| ()),
            7 => self.advance(8),
            8 => {
                let size = self.varint()?;
                self.advance(usize::try_from(size).map_err(|_| damaged())?)
            }
            9 | 10 => self.skip_list(depth),
            12 => self.fields(depth, &mut |reader, _, kind| reader.skip(kind, depth + 1)),
            _ => Err(damaged()),
        }
    }

    /// The length of a list, and the kind of its elements.
    pub fn list(&mut self) -> Outcome<(u64, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 {
            self.varint()?
        } else {
            u64::from(byte >> 4)
        };
        Ok((length, byte & 15))
    }

    fn skip_list(&mut self, depth: u32) -> Outcome<()> {
        let (length, kind) = self.list()?;
        for _ in 0..length {
            match kind {
                1 | 2 => self.advance(1)?,
                kind => self.skip(kind, depth + 1)?,
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> Outcome<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(damaged)?;
        self.at += 1;
        Ok(byte)
    }

    fn advance(&mut self, n: usize) -> Outcome<()> {
        self.at = self
            .at
            .checked_add(n)
            .filter(|at| *at <= self.bytes.len())
            .ok_or_else(damaged)?;
        Ok(())
    }

    pub fn integer(&mut self) -> Outcome<i64> {
        let value = self.varint()?;
        Ok(((value >> 1) as i64) ^ -((value & 1) as i64))
    }

    fn varint(&mut self) -> Outcome<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(damaged())
    }
}
