import { accountStream } from '#domain/accounts/events.ts'
import type { Core } from '../core-dependencies.ts'
import { firstRevision } from '../event-store/binary-search-events.ts'
import { ensureLogSchema } from '../transparency-log/open-log.ts'
import { buildReceipts, TreeTooSmall } from './build-receipts-of-events.ts'
import {
  CommandError,
  positionOption,
  printJson,
  textOption,
  userIdIn,
  type Verb,
  withSite,
} from './cli-verb-and-site-access.ts'
import { recordsOf } from './open-sealed-log.ts'
import type { StoredRecord } from './stored-record.ts'

const RECEIPTS_MAX = 10_000

export const RECEIPT: Verb = {
  form: 'receipt USER | receipt --position POSITION',
  summary: 'Print the receipts of an account, or of one event',
  help: `Prints JSON that the offline verifier checks: node verify.mjs --receipt FILE --key KEY.

  --position N    the event at this position, instead of an account
  --from N        the first revision of the account; the default is 0
  --to N          the last revision of the account; the default is the last one
  --since-size N  adds the proof that the tree continues the one of this size`,
  argumentsMax: 1,
  options: {
    position: { type: 'string' },
    from: { type: 'string' },
    to: { type: 'string' },
    'since-size': { type: 'string' },
  },
  run: async (invocation) => {
    const position = positionOption(invocation, 'position')
    const sinceSize = numberIn('since-size', textOption(invocation, 'since-size'))
    const from = numberIn('from', textOption(invocation, 'from')) ?? 0
    const to = numberIn('to', textOption(invocation, 'to')) ?? from + RECEIPTS_MAX - 1
    const [user = ''] = invocation.positionals
    if (position !== undefined && user !== '') {
      throw new CommandError(`--position names one event, so the user "${user}" is not needed`)
    }
    if (position === undefined && user === '') {
      throw new CommandError('the id or the name of a user, or --position, is needed')
    }
    if (to < from || to - from >= RECEIPTS_MAX) {
      throw new CommandError(`--from and --to must name 1 to ${RECEIPTS_MAX} revisions`)
    }
    const answer = await withSite(invocation, async (core) => {
      await ensureLogSchema(core)
      const stream = accountStream(position === undefined ? await userIdIn(core, user) : 0)
      const records =
        position === undefined
          ? await recordsOf(core).readStream(stream, from, to - from + 1)
          : await recordAt(core, position)
      if (records.length === 0) throw new CommandError('there is no such event')
      const receipts = await receiptsSince(core, records, sinceSize ?? null)
      if (position !== undefined) return receipts
      // The verifier compares `last_revision` with the receipts, and reports the revisions that
      // have no receipt.
      const last_revision = (await firstRevision(core.store, stream, () => false)) - 1
      return { stream, last_revision, ...receipts }
    })
    printJson(answer)
    return 0
  },
}

/**
 * Builds receipts like `buildReceipts`, but throws `CommandError` if the tree has fewer events than
 * `sinceSize`.
 */
async function receiptsSince(
  core: Core,
  records: readonly StoredRecord[],
  sinceSize: number | null,
): ReturnType<typeof buildReceipts> {
  try {
    return await buildReceipts(core, records, sinceSize)
  } catch (error) {
    if (!(error instanceof TreeTooSmall)) throw error
    throw new CommandError(`--since-size is ${sinceSize}, but ${error.message}`)
  }
}

async function recordAt(core: Core, position: number): Promise<readonly StoredRecord[]> {
  const records = await recordsOf(core).read(position - 1, 1)
  return records.filter((record) => record.position === position)
}

function numberIn(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,15}$/.test(text)) throw new CommandError(`--${name} must be an integer of 0 or more`)
  return Number(text)
}
