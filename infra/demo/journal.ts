/** The provider's own record of one request, against which tests check bills. */
export type JournalEntry = {
  readonly number: number
  readonly model: string
  readonly isStream: boolean
  /** The text of the last message, cut to 200 characters. Tests put a mark there. */
  readonly mark: string
  readonly authorization: string
  /** The gateway's id of the call, as it was sent to the provider. */
  readonly requestId: string
  status: number | null
  /** The outcome is `answered` once the last byte was written. */
  outcome: 'open' | 'answered' | 'failed' | 'cut' | 'caller-gone'
  promptTokens: number
  completionTokens: number
  chunksSent: number
}

export class Journal {
  readonly entries: JournalEntry[] = []
  readonly #limit: number
  #count = 0

  /** Keeps the latest `limit` entries. */
  constructor(limit = 1_000_000) {
    this.#limit = limit
  }

  open(
    entry: Pick<JournalEntry, 'model' | 'isStream' | 'mark' | 'authorization' | 'requestId'>,
  ): JournalEntry {
    this.#count += 1
    const opened: JournalEntry = {
      ...entry,
      number: this.#count,
      status: null,
      outcome: 'open',
      promptTokens: 0,
      completionTokens: 0,
      chunksSent: 0,
    }
    this.entries.push(opened)
    if (this.entries.length > this.#limit * 1.1) this.entries.splice(0, this.#limit * 0.1)
    return opened
  }

  get count(): number {
    return this.#count
  }
}
