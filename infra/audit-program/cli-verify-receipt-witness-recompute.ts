import type { CallInterrupted, CallSettled } from '#domain/accounts/events.ts'
import { chargeFor } from '#domain/pricing/charge.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { fromWire } from '#domain/shared/quota.ts'
import { listCheckpoints } from '../transparency-log/read-checkpoints-and-tiles.ts'
import {
  CommandError,
  positionOption,
  print,
  printJson,
  terminalProgress,
  type Verb,
  verifyPosition,
  withSite,
} from './cli-verb-and-site-access.ts'
import { runVerifier } from './offline-verifier.ts'
import { openSealedLog, recordsOf } from './open-sealed-log.ts'
import { isSignedBy, parseSignedCheckpoint, parseVerifierKey } from './signed-checkpoint.ts'
import { eventOf } from './stored-record.ts'

export const VERIFY_RECEIPT: Verb = {
  form: 'verify-receipt FILE… --key KEY',
  summary: 'Verify receipts that the site gave',
  help: `A file has the answer of GET /api/audit/receipts or GET /api/ledger/self/receipts.
Receipts of different files are also compared with each other.

  --key KEY       the site's key, as it was published; may be repeated
  --witness KEY   a key of a witness; may be repeated
  --quorum N      how many of these witnesses must have signed (default: all)`,
  argumentsMax: Number.POSITIVE_INFINITY,
  options: {
    key: { type: 'string', multiple: true },
    witness: { type: 'string', multiple: true },
    quorum: { type: 'string' },
  },
  run: async ({ positionals, values }) => {
    if (positionals.length === 0) throw new CommandError('verify-receipt needs a file')
    if (values.key === undefined) throw new CommandError('verify-receipt needs --key')
    const repeated = (name: string) =>
      ((values[name] ?? []) as string[]).flatMap((value) => [`--${name}`, value])
    const files = positionals.flatMap((file) => ['--receipt', file])
    const json = values.json === true ? ['--json'] : []
    const quorum = typeof values.quorum === 'string' ? ['--quorum', values.quorum] : []
    const witnesses = [...repeated('witness'), ...quorum]
    return runVerifier([...files, ...repeated('key'), ...witnesses, ...json])
  },
}

export const WITNESS: Verb = {
  form: 'witness',
  summary: 'Show the last signed checkpoint, and who signed it',
  help: `Shows the last signed checkpoint of the site. The exit code is 1 if the key of the site or
fewer witnesses than TRANSPARENCY_LOG_QUORUM have signed it.`,
  argumentsMax: 0,
  options: {},
  run: (invocation) =>
    withSite(invocation, async (core) => {
      const log = await openSealedLog(core)
      const [latest] = log === null ? [] : await listCheckpoints(core.pg, 1)
      if (log === null || latest === undefined) throw new Error('nothing is sealed yet')
      const checkpoint = parseSignedCheckpoint(latest.note)
      const signers = [...log.keys, ...log.witnessKeys].map((key) => {
        return { key, has_signed: isSignedBy(checkpoint, parseVerifierKey(key)) }
      })
      const { quorum } = core.config.transparencyLog
      const count = signers.filter(({ key, has_signed: hasSigned }) => {
        return hasSigned && log.witnessKeys.includes(key)
      }).length
      const isSigned = signers.some(({ key, has_signed }) => has_signed && log.keys.includes(key))
      if (invocation.values.json === true) {
        const { size, note } = latest
        const error = log.keyError?.message ?? null
        printJson({ size, note, signers, witnesses: count, quorum, error })
      } else {
        print(`${latest.note}\n`)
        for (const { key, has_signed } of signers) print(`${has_signed ? 'yes' : 'no '}  ${key}\n`)
        print(`${count} witnesses have signed, ${quorum} are required\n`)
        if (log.keyError !== null) print(`${log.keyError.message}\n`)
      }
      return isSigned && count >= quorum ? 0 : 1
    }),
}

const PAGE = 2_500
const LISTED_MAX = 100

type Ended = CallSettled | CallInterrupted

export const RECOMPUTE: Verb = {
  form: 'recompute [--from N] [--to N]',
  summary: 'Charge ended calls again and list the differences',
  help: `Computes each charge from the usage and the price in the event of the call. Calls of
batches are left out: verify checks them by their lines. With differences, the exit code is 1.

  --from N   the position of the first event (default 1)
  --to N     the position of the last event (default: the last one)`,
  argumentsMax: 0,
  options: { from: { type: 'string' }, to: { type: 'string' } },
  run: (invocation) => {
    const [from = 1, to] = [positionOption(invocation, 'from'), positionOption(invocation, 'to')]
    if (to !== undefined && to < from) throw new CommandError('--to must not be less than --from')
    return withSite(invocation, async (core) => {
      const records = recordsOf(core)
      const head = await records.head()
      verifyPosition('from', from, head)
      const last = Math.min(to ?? head, head)
      const progress = terminalProgress()
      const sums = { calls: 0, charged: 0n, recomputed: 0n, different: 0 }
      const differences: object[] = []
      for (let after = from - 1; after < last; ) {
        invocation.signal.throwIfAborted()
        const page = await records.read(after, PAGE)
        for (const record of page) {
          if (record.position > last || !isEnd(record.type)) continue
          const { data, position } = eventOf(record) as Recorded<Ended>
          if ('billedLines' in data && data.billedLines !== undefined) continue
          const charge = fromWire(data.charge)
          const recomputed = chargeFor(data.price, data.usage, data.calls)
          sums.calls += 1
          sums.charged += charge
          sums.recomputed += recomputed
          if (charge === recomputed) continue
          sums.different += 1
          const { call, userId, model } = data
          const found = { position, call, user_id: userId, model, charged: charge, recomputed }
          if (differences.length < LISTED_MAX) differences.push(found)
        }
        after = page.at(-1)?.position ?? last
        progress('events', Math.min(after, last) - from + 1, last - from + 1)
      }
      if (invocation.values.json === true) printJson({ ...sums, differences })
      else {
        const { calls, charged, recomputed, different } = sums
        print(`${calls} calls, charged ${charged}, recomputed ${recomputed}, `)
        print(`${different} differences\n`)
        for (const found of differences) print(`${Object.values(found).join('  ')}\n`)
      }
      return sums.different === 0 ? 0 : 1
    })
  },
}

const isEnd = (type: string): boolean => type === 'CallSettled' || type === 'CallInterrupted'
