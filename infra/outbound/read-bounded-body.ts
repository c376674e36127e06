/** Reads the body of a response. Rejects if it has more than `bytesMax` bytes. */
export async function readBoundedBody(
  body: AsyncIterable<Buffer>,
  bytesMax: number,
): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body) {
    length += part.length
    if (length > bytesMax) throw new Error('the answer is too long')
    parts.push(part)
  }
  return Buffer.concat(parts, length)
}
