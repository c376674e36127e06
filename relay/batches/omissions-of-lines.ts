import { type Exchange, setNameListHeader, visibleNames } from '../pipeline/http-exchange.ts'
import type { Candidate } from '../pipeline/prepare-request-for-channel.ts'
import { recordedOmissions } from '../pipeline/recorded-request-changes.ts'

type Omissions = Pick<Candidate, 'dropped' | 'losses'>

/**
 * The maximum number of different names that are kept for a batch. It bounds the memory for names
 * that contain indexes, such as `messages[7].content[0]`, in a batch with many lines.
 */
const NAMES_MAX = 1_000

/**
 * Collects what the provider does not get of a batch: the names of dropped members and losses in
 * all lines together. Each name is kept once, however many lines it concerns.
 */
export class OmissionsOfLines {
  private readonly dropped = new Set<string>()
  private readonly losses = new Set<string>()

  add({ dropped, losses }: Omissions): void {
    addNames(this.dropped, dropped)
    addNames(this.losses, losses)
  }

  /** The omissions as they are recorded with the batch and shown in the log. */
  get recorded(): ReturnType<typeof recordedOmissions> {
    return recordedOmissions([...this.dropped], [...this.losses])
  }

  /**
   * Sets the response headers that list the omissions. They are the same headers as for a single
   * call.
   */
  setHeaders(exchange: Exchange): void {
    setNameListHeader(exchange, 'X-Dropped-Members', [...this.dropped])
    setNameListHeader(exchange, 'X-Conversion-Loss', [...this.losses])
  }
}

/**
 * Adds the names that callers may see, until there are `NAMES_MAX` names. All other names are
 * replaced by one empty name, because callers choose some names, and long names would use much
 * memory.
 */
function addNames(known: Set<string>, names: readonly string[]): void {
  for (const name of names) {
    if (known.size < NAMES_MAX) known.add(visibleNames([name], 1)[0] ?? UNSHOWN)
  }
}

const UNSHOWN = ''
