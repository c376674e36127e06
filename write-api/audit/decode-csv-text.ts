import { providerInvoiceError } from './provider-invoice-errors.ts'

/**
 * Decodes the text of a CSV file in pieces of any size: UTF-8, or UTF-16 if the file starts with
 * its byte order mark. Throws `InvoiceNotUtf8` for other encodings, because names of models and
 * ids of requests would otherwise be wrong without a notice.
 */
export class CsvTextDecoder {
  private decoder: TextDecoder | null = null
  /** The first bytes of the file, until the byte order mark is complete. */
  private start = Buffer.alloc(0)

  push(bytes: Uint8Array): string {
    if (this.decoder !== null) return this.decode(this.decoder, bytes)
    this.start = Buffer.concat([this.start, bytes])
    return this.start.length < 2 ? '' : this.decodeStart()
  }

  end(): string {
    const start = this.decoder === null ? this.decodeStart() : ''
    return start + (this.decoder === null ? '' : this.decode(this.decoder))
  }

  private decodeStart(): string {
    this.decoder = new TextDecoder(encodingOf(this.start), { fatal: true })
    return this.decode(this.decoder, this.start)
  }

  private decode(decoder: TextDecoder, bytes?: Uint8Array): string {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true })
    } catch {
      throw providerInvoiceError('InvoiceNotUtf8')
    }
  }
}

function encodingOf(start: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = start
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  // Text in UTF-16 without its mark would be valid UTF-8 with NUL characters.
  if (first === 0 || second === 0) throw providerInvoiceError('InvoiceNotUtf8')
  return 'utf-8'
}
