// The snapshot's own Parquet, read by columns over ranges of bytes where the server serves these.

import { decompress } from 'fzstd'
import { asyncBufferFromUrl, cachedAsyncBuffer, parquetMetadataAsync, parquetRead, parquetReadObjects } from 'hyparquet'

const READING = {
  // With an array of ours to write to, it takes seven times as long.
  compressors: { ZSTD: input => decompress(input) },
  // Numbers: a column of a million dates is compared more often than it is shown.
  parsers: { timestampFromMicroseconds: micros => Number(micros) / 1000 },
}

export class Table {
  // `files`: [{url, size}] in the order of their rows
  constructor(files) {
    this.files = files
    this.opened = null
  }

  open() {
    this.opened ??= Promise.all(this.files.map(open)).then(parts => {
      let first = 0
      for (const part of parts) {
        part.first = first
        first += Number(part.metadata.num_rows)
      }
      return { parts, length: first }
    })
    return this.opened
  }

  // {length, NAME: array, …}: of these columns those that the file has, others are left out.
  async columns(names) {
    const { parts, length } = await this.open()
    const found = { length }
    await Promise.all(parts.map(part => readColumns(part, names, found)))
    return found
  }

  // Whole rows by their numbers, in that order; each group of rows is read once.
  async rows(numbers, names) {
    const { parts } = await this.open()
    const found = new Map()
    const wanted = [...numbers].sort((one, other) => one - other)
    for (const part of parts) {
      for (const [from, to] of groups(part)) {
        const here = wanted.filter(number => number >= from && number < to)
        if (here.length) await readRows(part, here, names, found)
      }
    }
    return numbers.map(number => found.get(number))
  }
}

async function open({ url, size }) {
  const file = cachedAsyncBuffer(await asyncBufferFromUrl({ url, byteLength: size }))
  return { file, metadata: await parquetMetadataAsync(file), first: 0 }
}

function present(part, names) {
  const top = new Set(part.metadata.schema.slice(1).map(field => field.name))
  return names.filter(name => top.has(name))
}

async function readColumns({ file, metadata, first }, names, found) {
  const rows = Number(metadata.num_rows)
  const columns = present({ metadata }, names)
  for (const name of columns) found[name] ??= new Array(found.length)
  if (!rows) return
  await parquetRead({
    file,
    metadata,
    columns,
    ...READING,
    onChunk: ({ columnName, columnData, rowStart }) => {
      const target = found[columnName]
      for (let i = 0; i < columnData.length; i++) target[first + rowStart + i] = columnData[i]
    },
  })
}

function groups({ metadata, first }) {
  let from = first
  return metadata.row_groups.map(group => {
    const range = [from, from + Number(group.num_rows)]
    from = range[1]
    return range
  })
}

async function readRows(part, numbers, names, found) {
  const from = numbers[0]
  const rows = await parquetReadObjects({
    file: part.file,
    metadata: part.metadata,
    columns: names && present(part, names),
    rowStart: from - part.first,
    rowEnd: numbers.at(-1) + 1 - part.first,
    useOffsetIndex: true,
    ...READING,
  })
  for (const number of numbers) found.set(number, rows[number - from])
}
