import type { CommonQueryMethods } from 'slonik'
import { expect, it } from 'vitest'
import { MatchedInvoices } from '#read-api/audit/matched-invoice-cache.ts'

const INVOICE = { invoiceId: 'i', channelId: 1, firstDay: 0, lastDay: 86_400_000 }

/** Matches that can be ended one by one, on a read model to which calls are added all the time. */
function site() {
  let position = 0
  const running: PromiseWithResolvers<void>[] = []
  const db = { one: async () => ({ table: 1, position }), oneFirst: async () => true }
  const matched = new MatchedInvoices(db as unknown as CommonQueryMethods)
  const replaced = matched as unknown as { match(...terms: unknown[]): Promise<unknown> }
  replaced.match = async (_invoice, contents) => {
    const end = Promise.withResolvers<void>()
    running.push(end)
    await end.promise
    return { sums: [], onlyOurs: position, contents, places: new Map() }
  }
  const request = () => matched.matchesOf(INVOICE as Parameters<typeof matched.matchesOf>[0])
  const addCall = () => {
    position += 1
  }
  return { running, request, addCall }
}

it('requests that wait for a match take one result, which has their calls', async () => {
  const { running, request, addCall } = site()
  const first = request()
  await expect.poll(() => running.length).toBe(1)
  addCall()
  const later = Array.from({ length: 50 }, request)
  running[0]?.resolve()
  await first
  await expect.poll(() => running.length).toBe(2)
  // Each of the fifty would otherwise find this call, and match the invoice once more.
  addCall()
  running[1]?.resolve()
  await Promise.all(later)
  expect(running.length).toBe(2)
  const last = request()
  await expect.poll(() => running.length).toBe(3)
  running[2]?.resolve()
  expect((await last).onlyOurs).toBe(2)
})
