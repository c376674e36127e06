const [QUOTE, BACKSLASH, LETTER_U] = [34, 92, 117]
/**
 * The value of `escapeLeft` before the first byte of an escape. If this byte is a `u`, four digits
 * follow.
 */
const AT_ESCAPE = 5

/**
 * Yields a JSON document while it arrives. Each string in it is cut after `max` bytes, where an
 * escape counts as one byte and is never cut in two. Therefore, a file in the document is never in
 * memory as a whole.
 */
export async function* withShortTexts(
  chunks: AsyncIterable<Buffer>,
  max: number,
): AsyncGenerator<Buffer> {
  let isInText = false
  let isKept = true
  let length = 0
  let escapeLeft = 0
  for await (const chunk of chunks) {
    const kept = Buffer.allocUnsafe(chunk.length)
    let size = 0
    for (const byte of chunk) {
      if (escapeLeft > 0) {
        if (escapeLeft === AT_ESCAPE && byte !== LETTER_U) escapeLeft = 0
        else escapeLeft -= 1
      } else if (byte === QUOTE) {
        isInText = !isInText
        isKept = true
        length = 0
      } else if (isInText) {
        isKept = length < max
        if (byte === BACKSLASH) escapeLeft = AT_ESCAPE
        length += 1
      }
      if (!isKept) continue
      kept[size] = byte
      size += 1
    }
    yield kept.subarray(0, size)
  }
}

/** The maximum number of characters of the document before the base64 text. */
const HEAD_LENGTH_MAX = 64 * 1024

/**
 * Decodes the base64 text of one member of a JSON document while the document arrives, and yields
 * the bytes. Yields nothing if the document lacks the member, or if too many characters precede the
 * member (`HEAD_LENGTH_MAX`). Rejects if the document ends within the text.
 */
export async function* base64TextIn(
  chunks: AsyncIterable<Buffer>,
  member: string,
): AsyncGenerator<Buffer> {
  const start = new RegExp(`"${member}"\\s*:\\s*"`)
  let head: string | null = ''
  let rest = ''
  for await (const chunk of chunks) {
    let text = chunk.toString('latin1')
    if (head !== null) {
      head += text
      const found = start.exec(head)
      if (found === null) {
        if (head.length > HEAD_LENGTH_MAX) return
        continue
      }
      text = head.slice(found.index + found[0].length)
      head = null
    }
    // Base64 contains no quotes, so the first quote ends the text.
    const end = text.indexOf('"')
    const part = `${rest}${end < 0 ? text : text.slice(0, end)}`
    // A chunk may end within an escape.
    const begun =
      end < 0 ? (/\\(?:u[\da-f]{0,3})?$/i.exec(part)?.index ?? part.length) : part.length
    const plain = unescapedBase64(part.slice(0, begun))
    const length = end < 0 ? plain.length - (plain.length % 4) : plain.length
    rest = plain.slice(length) + part.slice(begun)
    if (length > 0) yield Buffer.from(plain.slice(0, length), 'base64')
    if (end >= 0) return
  }
  if (head === null) throw new Error('the answer ended within a file')
}

const BASE64_SIGN = /[\w+/=-]/

/**
 * Decodes the escapes in a base64 text, and removes escaped line breaks. Some JSON writers escape
 * `/`, `+` or `=`, and some break the text into lines.
 */
const unescapedBase64 = (text: string): string =>
  text.includes('\\')
    ? text.replaceAll(/\\(?:u([\da-f]{4})|(.))/gi, (_escape, code?: string, char?: string) => {
        // The letters of `\n` and `\r` are no part of the file.
        if (code === undefined) return char === '/' ? char : ''
        const sign = String.fromCharCode(Number.parseInt(code, 16))
        return BASE64_SIGN.test(sign) ? sign : ''
      })
    : text
