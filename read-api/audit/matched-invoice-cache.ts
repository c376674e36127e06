import type { CommonQueryMethods } from 'slonik'
import {
  type Contents,
  contentsOf,
  findOnlyOurs,
  hasNewAttempts,
  lineOfPlace,
  listCalls,
  listMatches,
  listOnlyOurs,
  type MatchedProviderInvoice,
  matchLines,
  type RequestMatchRow,
  type MatchSum as SumWithPlaces,
} from '#projections/reconciliation/query.ts'
import type { RequestMatch } from '../contract/provider-invoices.ts'

/** A sum of lines and calls (see `matchLines`). */
export type MatchSum = Omit<SumWithPlaces, 'places'>

/**
 * The result of matching the invoice lines that have request ids with the calls of the invoice's
 * channel.
 */
export type InvoiceMatches = {
  readonly sums: readonly MatchSum[]
  /** The number of calls that are not in the invoice. */
  readonly onlyOurs: number
}

type Kept = InvoiceMatches & {
  readonly contents: Contents
  /**
   * The places for each kind of match, in ascending order. A place identifies the first line with a
   * request id, or for `only_ours` a call.
   */
  readonly places: ReadonlyMap<RequestMatch, Float64Array>
}

/**
 * The maximum number of invoices whose matches are kept. The matches of the largest invoice take
 * about 8 MB.
 */
const KEPT_MAX = 8

/**
 * Matches invoices with calls and keeps the results. Matching an invoice of 100 000 lines takes
 * half a second, and each page of the invoice needs the result. An invoice is matched again if a
 * new call or attempt can change the result, or if the read model was rebuilt. The lines of an
 * invoice never change.
 */
export class MatchedInvoices {
  /**
   * The ids of invoices whose lines are all in the read model. These ids are remembered, because
   * counting 100 000 lines takes longer than reading a page.
   */
  readonly complete = new Set<string>()
  private readonly db: CommonQueryMethods
  /** The results by the id of the invoice, the most recently used last. */
  private readonly kept = new Map<string, Promise<Kept>>()

  constructor(db: CommonQueryMethods) {
    this.db = db
  }

  /** Returns the matches of an invoice that has lines with request ids. */
  matchesOf(invoice: MatchedProviderInvoice): Promise<InvoiceMatches> {
    return this.current(invoice)
  }

  /**
   * Lists the invoice lines with this match result. For `only_ours`, lists the calls that are not
   * in the invoice. `after` is `place` in the last row of the previous page, or 0.
   */
  async list(
    invoice: MatchedProviderInvoice,
    match: RequestMatch,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly RequestMatchRow[]> {
    const { places } = await this.current(invoice)
    const all = places.get(match)
    if (match === 'only_ours' && all === undefined) {
      return await listOnlyOurs(this.db, invoice, { after, limit })
    }
    const page = pageAfter(all ?? NO_PLACES, numberOf(match), after, limit)
    if (page.length === 0) return []
    return match === 'only_ours'
      ? await listCalls(this.db, invoice, page)
      : await listMatches(this.db, invoice, page)
  }

  /**
   * Returns the current matches of an invoice. Requests for the same invoice run one after another.
   * A request reuses the previous result if this result includes all events that the read model had
   * when the request began. If requests did not wait for each other, each request would match the
   * invoice again while calls keep arriving.
   */
  private async current(invoice: MatchedProviderInvoice): Promise<Kept> {
    const { invoiceId } = invoice
    const { table, position } = await contentsOf(this.db)
    const earlier = this.kept.get(invoiceId)?.catch(() => null) ?? Promise.resolve(null)
    const current = earlier.then((kept) => {
      const isCovered = kept?.contents.table === table && kept.contents.position >= position
      return isCovered ? kept : this.refreshed(invoice, kept)
    })
    this.kept.delete(invoiceId)
    this.kept.set(invoiceId, current)
    const oldest = this.kept.keys().next().value
    if (this.kept.size > KEPT_MAX && oldest !== undefined) this.kept.delete(oldest)
    return current
  }

  private async refreshed(invoice: MatchedProviderInvoice, kept: Kept | null): Promise<Kept> {
    // The position is read before the attempts, so that no attempt up to this position is missed.
    const contents = await contentsOf(this.db)
    if (kept === null || kept.contents.table !== contents.table) {
      return await this.match(invoice, contents)
    }
    if (kept.contents.position === contents.position) return kept
    const isOutdated = await hasNewAttempts(this.db, invoice, kept.contents.position)
    return isOutdated ? await this.match(invoice, contents) : { ...kept, contents }
  }

  private async match(invoice: MatchedProviderInvoice, contents: Contents): Promise<Kept> {
    const [sums, { count, positions }] = await Promise.all([
      matchLines(this.db, invoice),
      findOnlyOurs(this.db, invoice),
    ])
    const places = new Map<RequestMatch, Float64Array>()
    for (const [match, own] of Map.groupBy(sums, (sum) => sum.match)) {
      places.set(match, sortedPlaces(own.map((sum) => sum.places)))
    }
    if (positions !== null) places.set('only_ours', positions)
    return {
      sums: sums.map(({ places: _places, ...sum }) => sum),
      onlyOurs: count,
      ...{ contents, places },
    }
  }
}

const NO_PLACES = new Float64Array()

function sortedPlaces(lists: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(lists.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const list of lists) {
    all.set(list, at)
    at += list.length
  }
  return all.sort()
}

/**
 * Returns a function that converts a place to the number after which the next page continues: the
 * line number in the file, or the position of a call. Both numbers increase with the place.
 */
const numberOf = (match: RequestMatch) => (match === 'only_ours' ? Number : lineOfPlace)

function pageAfter(
  places: Float64Array,
  number: (place: number) => number,
  after: number,
  limit: number,
): number[] {
  let [low, high] = [0, places.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (number(places[middle] ?? 0) > after) high = middle
    else low = middle + 1
  }
  return [...places.subarray(low, low + limit)]
}
