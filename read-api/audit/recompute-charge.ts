import { type BatchEvent, batchStream } from '#domain/batches/events.ts'
import { itemizeCharge } from '#domain/pricing/itemize-charge.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import type { CallExplanation } from '../contract/calls.ts'
import type { CallEnding } from './find-call-events.ts'

type Arithmetic = NonNullable<CallExplanation['arithmetic']>
type Charged = Extract<CallEnding, { readonly type: 'CallSettled' | 'CallInterrupted' }>

const LINES_MAX = 100
const PAGE = 100

/**
 * Recomputes the charge of a call from the event that ended it. If the call pays for lines of a
 * batch, adds up the charges of these lines, which are in the events of the batch. The result then
 * equals the charge of the call plus the part that the account could not pay.
 */
export async function recomputeCharge(
  store: Pick<EventStore, 'readStream'>,
  end: Charged,
): Promise<Arithmetic> {
  const { batch } = end.data
  if (batch !== undefined) return await batchArithmetic(store, end, batch.id)
  const { price, usage, calls, charge } = end.data
  const { items, sum, charge: rounded } = itemizeCharge(price, usage, calls)
  const isExact = rounded === BigInt(charge)
  return { lines: [...items], sum, rounded: Number(rounded), charge, is_exact: isExact }
}

async function batchArithmetic(
  store: Pick<EventStore, 'readStream'>,
  end: Charged,
  batch: string,
): Promise<Arithmetic> {
  const { call, charge } = end.data
  const unpaid = 'unpaid' in end.data ? (end.data.unpaid ?? 0) : 0
  const lines: Arithmetic['lines'] = []
  let [sum, ofOthers] = [0n, 0n]
  let part = -1
  for (let from = 0; ; from += PAGE) {
    const events = (await store.readStream(batchStream(batch), from, PAGE)) as BatchEvent[]
    for (const event of events) {
      if (event.type === 'BatchSubmitted') {
        part = event.data.parts.findIndex((one) => one.call === call)
      }
      for (const line of event.type === 'BatchLinesBilled' ? event.data.lines : []) {
        if (line.part !== part) continue
        sum += BigInt(line.charge)
        if (lines.length < LINES_MAX) lines.push(wholeLine(`line:${line.line}`, line.charge))
        else ofOthers += BigInt(line.charge)
      }
    }
    if (events.length < PAGE) break
  }
  if (ofOthers > 0n) lines.push(wholeLine('other-lines', ofOthers))
  const isExact = sum - BigInt(unpaid) === BigInt(charge)
  return { lines, sum: String(sum), rounded: Number(sum), charge, is_exact: isExact }
}

const wholeLine = (item: string, charge: bigint | number): Arithmetic['lines'][number] => ({
  ...{ item, units: '1', price: String(charge), ratio: '1', amount: String(charge) },
})
