import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import type { Findings } from '#domain/audit/findings.ts'
import { EVENTS_PER_SEGMENT, SEGMENT_BYTES_MAX, type Segment } from './export-format.ts'
import type { ExportReader } from './export-reader.ts'

const LINE_BYTES_MAX = 64 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const NEWLINE = 10

/**
 * Yields the lines of a segment. The segment is decompressed while its lines are read, so that only
 * one line is in memory at a time, however large the segment is. If the file is missing, too large
 * or can't be decompressed, this is reported and ends the iteration. A file that differs from its
 * hash or size in the manifest is reported, but still read.
 */
export async function* segmentLines(
  reader: ExportReader,
  { name, sha256, bytes: size }: Segment,
  findings: Findings,
): AsyncGenerator<string> {
  const packed = reader.read(name)
  if (packed === null) {
    findings.report('export', null, 'FileMissing', { file: name })
    return
  }
  const hash = createHash('sha256').update(packed).digest('hex')
  const isSame = hash === sha256 && packed.length === size
  findings.expect('export', isSame, null, 'FileDiffers', () => ({ file: name }))
  let count = 0
  for await (const line of linesIn(name, decompressed(name, packed, findings), findings)) {
    // The limit bounds the number of findings. Each empty line is a finding, and a small compressed
    // file could contain millions of empty lines.
    if (count === EVENTS_PER_SEGMENT) {
      return findings.report('export', null, 'LinesTooMany', { file: name, max: count })
    }
    count += 1
    yield line.toString('utf8')
  }
}

/**
 * Decompresses a segment in small chunks. A chunk is decompressed only after the consumer has read
 * the previous chunk.
 */
async function* decompressed(
  file: string,
  packed: Buffer,
  findings: Findings,
): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES })
  let left = SEGMENT_BYTES_MAX
  try {
    gunzip.end(packed)
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      left -= chunk.length
      if (left < 0) {
        return findings.report('export', null, 'FileTooLarge', { file, max: SEGMENT_BYTES_MAX })
      }
      yield chunk
    }
  } catch {
    findings.report('export', null, 'FileNotDecompressible', { file })
  } finally {
    gunzip.destroy()
  }
}

async function* linesIn(
  file: string,
  chunks: AsyncIterable<Buffer>,
  findings: Findings,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const part = chunk.subarray(start, end)
      yield parts.length === 0 ? part : Buffer.concat([...parts, part])
      parts = []
      length = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    parts.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > LINE_BYTES_MAX) {
      return findings.report('export', null, 'LineTooLong', { file, max: LINE_BYTES_MAX })
    }
  }
  if (length > 0) yield Buffer.concat(parts)
}
