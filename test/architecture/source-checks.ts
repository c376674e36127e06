import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, type SourceFile } from './source-tree.ts'

/** Checks of one file, each of which returns a text for every fault. */

export const WIDTH_MAX = 100

/** Lines that are too wide, but for those with a long address or text that cannot be broken. */
export const wideLines = ({ path, text }: SourceFile): string[] =>
  text
    .split('\n')
    .map((line, index) => ({ at: `${path}:${index + 1}`, width: [...line].length, line }))
    .filter(({ width, line }) => width > WIDTH_MAX && !/['"`/]\S{60,}/.test(line))
    .map(({ at, width }) => `${at} (${width})`)

/** A name that is not kebab-case, or the name of a barrel. */
export function fileNameFaults({ path }: SourceFile): string[] {
  const name = path.split('/').at(-1) ?? ''
  const isKebab = /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config|d))?\.tsx?$/.test(name)
  return isKebab && !name.startsWith('index.') ? [] : [path]
}

export function forbiddenSyntax({ path, text }: SourceFile): string[] {
  if (path.endsWith('.config.ts') || path.startsWith('test/architecture/')) return []
  return [/^export default /m, /^\s*(export )?(const )?enum /m, /\b(TODO|FIXME|XXX)\b/]
    .filter((pattern) => pattern.test(text))
    .map((pattern) => `${path}: ${pattern}`)
}

/** Words of the glossary's last column that have other meanings as well. They are not checked. */
const ORDINARY = new Set(
  'parts seat turns known act chosen fault words track notice mark rest try in-turn'.split(' '),
)
/** Stored names and addresses, which stay, and the prompt of a test. */
const EXCEPTIONS =
  /bookmarks\.bookmarks|'bookmarks'|\/admin\/coupons|'coupons-table-|"coupons-table-|a red door/g
/** Names that were replaced. Words that may never be names are in domain/glossary.md. */
const REPLACED = new RegExp(
  [
    String.raw`\b(?:Relay|Read|Task|Act)Parts\b`,
    String.raw`\b(?:CallBooks|TaskBooks|StreamPassage|ChannelTurns|takeSeat|FrontDoor|ownDoor)\b`,
    String.raw`\b(?:warnSeldom|fewNames|comeIn|waysOpen|waysToPay|openBookmark|GivenUp)\b`,
    String.raw`\b(?:watchForDeafness|isProxys|lastOnesOf|createTurns|furnish\w*|\w*Deeds)\b`,
    String.raw`\b(?:ChannelAct|enteredTarget|hiddenWords|SeatsMax|askUpstream|takeReport)\b`,
    String.raw`\b(?:AccountTroubles|isPassedBy|isTakingBack|actTogether|onlyOwnSocket)\b`,
    String.raw`\bKnown(?:Token|Channel|User|Redemption|Task|Message|Names)\b`,
    String.raw`\b(?:Take(?:Token|Redemption)Ids|NoteUnconfirmed|moneyGone|knownCents)\b`,
    String.raw`\b(?:useHeld|useEnter|useSettled|useOpening|useCapFallback|useIsTight|useChosen\w*)\b`,
    String.raw`\b(?:atField|rowStarts|mayLeave|ownChunk|LostPage|LogInAnew|ProofHost|ChosenBar)\b`,
    String.raw`\b(?:OwnForms|OWN_FORMS|OtherWays|WayButtons|WAY_ICONS|DangerPart|PageWords)\b`,
    String.raw`\b(?:HealthBoard|(?:ifW|w)aysGone|wakeUp|choosable|healedUpTo)\b`,
    String.raw`\b(?:OutputAllowance|LeaseWatch|isEcho|Acceptances|LaneRunner)\b`,
    String.raw`\b(?:faultyField|mappingFault|faultOfTerms|faultOfAnswer|webhookFaultOf)\b`,
    String.raw`\bkind: 'seats'`,
    String.raw`\b(?:focusFirstFault|faultText|isFaulty|chooseNone|QuickPicks|picksFrom)\b`,
    String.raw`\b(?:showsRefusal|useRefusals|\w+(?:Refusal|Denial)|AccountFailures)\b`,
    String.raw`\b(?:isAccountFault|RevisionFault|comeBack|troubles|LiveCall|PollLane|Stratum)\b`,
    String.raw`\b(?:LaneFeed|Tallies|judgeTest|fitInput|askProvider|roughCount|chosenUserIds)\b`,
    String.raw`\b(?:\w*Coupon\w*|keptMailTo|calledOf|ChatWay|editAct|deleteAct)\b`,
  ].join('|'),
)
/** Participles that don't say what a value is. */
const PARTICIPLES = /\b(?:const|type|with) (?:[Cc]hosen|[Ww]anted|[Tt]old|Known)\b/
/** Matches the words of the glossary's last column as names: `way in` as wayIn and way-in. */
function neverWords(): RegExp {
  const glossary = readFileSync(join(ROOT, 'domain/glossary.md'), 'utf8')
  const column = [...glossary.matchAll(/^\|[^|]*\|[^|]*\| ([^|]+) \|$/gm)]
  const words = column
    .flatMap(([, never = '']) => never.split(', '))
    .map((word) => word.replaceAll(' ', '-'))
    .filter((word) => word !== 'never' && !ORDINARY.has(word))
  assert(words.includes('bookmark'), 'the glossary has another form')
  const patterns = words.flatMap((word) => [
    word,
    word.replace(/-[a-z]/g, (at) => at.slice(1).toUpperCase()),
  ])
  return new RegExp(String.raw`(?<![\w/])(?:${patterns.join('|')})s?(?!\w)`, 'i')
}

const NEVER = neverWords()

export function replacedWords({ path, text }: SourceFile): string[] {
  if (path.startsWith('test/architecture/') || path === 'domain/glossary.md') return []
  const named = text.replace(EXCEPTIONS, '')
  const patterns = [REPLACED, NEVER, ...(path.startsWith('test/relay/') ? [] : [PARTICIPLES])]
  const found = patterns.map((pattern) => pattern.exec(named)?.[0])
  return found.flatMap((word) => (word === undefined ? [] : [`${path}: ${word}`]))
}
