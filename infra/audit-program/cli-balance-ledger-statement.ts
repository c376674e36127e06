import { accountStream } from '#domain/accounts/events.ts'
import type { Recorded } from '#domain/shared/event.ts'
import { parseZonedTime } from '#domain/shared/utc-time.ts'
import { AccountLedger, isWithin, type LedgerLine, type Moment } from './account-ledger.ts'
import {
  CommandError,
  type Invocation,
  print,
  printJson,
  textOption,
  userIdIn,
  type Verb,
  verifyPosition,
  withSite,
} from './cli-verb-and-site-access.ts'
import { openExport } from './export-reader.ts'
import { exportedEvents, readManifest } from './verify-export.ts'

const SOURCE_HELP = `  --export PATH   read an export instead of the site

USER is the id or the name of a user. In an export, users have ids only.`
const SOURCE = { export: { type: 'string' } } as const
const PAGE = 1_000

/**
 * Calls `apply` with each event of the user's account in order, read from the site or from an
 * export. Throws if the account has no events, because the id is then probably wrong. Also throws
 * if `moment` is a position after the last event. The error names the command-line option `name`,
 * from which the moment was read.
 */
async function eachEvent(
  invocation: Invocation,
  userId: number,
  [name, { position }]: readonly [name: string, Moment],
  apply: (event: Recorded) => void,
): Promise<void> {
  let count = 0
  const verifyEnd = (last: number) => verifyPosition(name, position, last)
  await readAccount(invocation, accountStream(userId), verifyEnd, (event) => {
    count += 1
    apply(event)
  })
  if (count === 0) throw new CommandError(`the account of user ${userId} has no events`)
}

async function readAccount(
  invocation: Invocation,
  stream: string,
  verifyEnd: (lastPosition: number) => void,
  apply: (event: Recorded) => void,
): Promise<void> {
  const path = textOption(invocation, 'export')
  if (path !== undefined) {
    const reader = openExport(path)
    const manifest = readManifest(reader)
    verifyEnd(manifest.last)
    for await (const event of exportedEvents(reader, manifest, stream)) apply(event)
    return reader.close()
  }
  await withSite(invocation, async ({ store }) => {
    verifyEnd(await store.headPosition())
    for (let revision = 0; ; ) {
      const page = await store.readStream(stream, revision, PAGE)
      for (const event of page) apply(event)
      if (page.length === 0) return
      revision += page.length
    }
  })
}

/**
 * Returns the id of the user whom the argument names. The argument is an id, or a user name if the
 * events come from a site. An export has no user names.
 */
async function userOf(invocation: Invocation): Promise<number> {
  const [text = ''] = invocation.positionals
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text)
  if (text === '') throw new CommandError('the id or the name of a user is needed')
  if (textOption(invocation, 'export') !== undefined) {
    throw new CommandError(`an export has no names of users: give the id instead of "${text}"`)
  }
  return await withSite(invocation, (core) => userIdIn(core, text))
}

/**
 * Parses the value of the option `--name`: a position (digits only), or an ISO time with its zone.
 * If the option is missing, returns `{}`, which includes all events.
 */
function momentOf(name: string, text: string | undefined): Moment {
  if (text === undefined) return {}
  if (/^\d{1,15}$/.test(text)) return { position: Number(text) }
  const at = parseZonedTime(text)
  if (at !== null) return { at }
  throw new CommandError(`--${name} must be a position, or a time like 2026-11-28T09:00:00Z`)
}

export const BALANCE: Verb = {
  form: 'balance USER [--at TIME | POSITION]',
  summary: 'Show the balance of a user, now or at an earlier moment',
  help: `Sums the movements of the account up to the moment.

  --at MOMENT     an ISO time, or a position (digits only)
${SOURCE_HELP}`,
  argumentsMax: 1,
  options: { at: { type: 'string' }, ...SOURCE },
  run: async (invocation) => {
    const moment = momentOf('at', textOption(invocation, 'at'))
    const userId = await userOf(invocation)
    const ledger = new AccountLedger()
    await eachEvent(invocation, userId, ['at', moment], (event) => {
      if (isWithin(event, moment)) ledger.apply(event)
    })
    const { balance, held, total, affiliate, position } = ledger.current()
    if (invocation.values.json === true) {
      printJson({ user_id: userId, position, total, balance, held, affiliate })
    } else {
      print(`user ${userId} at position ${position}: balance ${balance}, held ${held}, `)
      print(`total ${total}, rewards ${affiliate}\n`)
    }
    return 0
  },
}

const isAfter = (from: number | undefined, to: number | undefined): boolean =>
  from !== undefined && to !== undefined && from > to

type Period = { readonly from: Moment; readonly to: Moment }

export const LEDGER: Verb = {
  form: 'ledger USER [--from MOMENT] [--to MOMENT]',
  summary: 'List the movements of a user with running balances',
  help: `Lists every change of the total, which is the balance and the held quota together.

  --from MOMENT   an ISO time, or a position: what was before is the opening balance
  --to MOMENT     an ISO time, or a position: later movements are left out
${SOURCE_HELP}`,
  argumentsMax: 1,
  options: { from: { type: 'string' }, to: { type: 'string' }, ...SOURCE },
  run: (invocation) => {
    const from = momentOf('from', textOption(invocation, 'from'))
    const to = momentOf('to', textOption(invocation, 'to'))
    if (isAfter(from.position, to.position) || isAfter(from.at, to.at)) {
      throw new CommandError('--to must not be before --from')
    }
    return list(invocation, { from, to })
  },
}

export const STATEMENT: Verb = {
  form: 'statement USER --month YYYY-MM',
  summary: 'Show the movements of a user in a month (UTC)',
  help: `Shows the opening balance, every movement and the closing balance of a month.

  --month YYYY-MM
${SOURCE_HELP}`,
  argumentsMax: 1,
  options: { month: { type: 'string' }, ...SOURCE },
  run: (invocation) => {
    const [, year = '', month = ''] =
      /^(\d{4})-(0[1-9]|1[0-2])$/.exec(textOption(invocation, 'month') ?? '') ?? []
    if (year === '') throw new CommandError('--month must be given as YYYY-MM, such as 2026-11')
    const from = Date.UTC(Number(year), Number(month) - 1, 1)
    const to = Date.UTC(Number(year), Number(month), 1) - 1
    return list(invocation, { from: { at: from }, to: { at: to } })
  },
}

/**
 * Reports whether the event is before the period. The amounts of such events are part of the
 * opening balance.
 */
const isBefore = ({ position, meta }: Recorded, { from }: Period): boolean =>
  position < (from.position ?? 0) || meta.at < (from.at ?? 0)

async function list(invocation: Invocation, period: Period): Promise<number> {
  const userId = await userOf(invocation)
  const ledger = new AccountLedger()
  let opening = ledger.current()
  const lines: LedgerLine[] = []
  await eachEvent(invocation, userId, ['from', period.from], (event) => {
    if (!isWithin(event, period.to)) return
    const line = ledger.apply(event)
    if (isBefore(event, period)) opening = ledger.current()
    else if (line !== null) lines.push(line)
  })
  const closing = ledger.current()
  if (invocation.values.json === true) {
    printJson({ user_id: userId, opening, closing, items: lines })
    return 0
  }
  print(`user ${userId}, opening total ${opening.total}\n`)
  for (const { position, at, type, source, amount, total, held } of lines) {
    const time = new Date(at).toISOString().slice(0, 19).replace('T', ' ')
    const signed = amount > 0n ? `+${amount}` : `${amount}`
    const figures = `${signed.padStart(16)} ${String(total).padStart(18)}`
    print(`${time} ${String(position).padStart(10)} ${type.padEnd(22)}${figures}`)
    print(`  ${source}${held === 0n ? '' : `  held ${held}`}\n`)
  }
  print(`closing total ${closing.total} (balance ${closing.balance}, held ${closing.held})\n`)
  return 0
}
