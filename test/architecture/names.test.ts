import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow, PARTS, ROOT, sourceFiles } from './source-tree.ts'

const ROOT_ALLOWED = new Set([
  ...PARTS,
  'package.json',
  'README.md',
  'package-lock.json',
  'tsconfig.json',
  'biome.json',
  'vitest.config.ts',
  '.env.example',
  '.gitignore',
  '.dockerignore',
  '.npmrc',
  '.editorconfig',
  '.nvmrc',
  'LICENSE',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.ci',
])
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
  expect(words).toContain('bookmark')
  const patterns = words.flatMap((word) => [
    word,
    word.replace(/-[a-z]/g, (at) => at.slice(1).toUpperCase()),
  ])
  return new RegExp(String.raw`(?<![\w/])(?:${patterns.join('|')})s?(?!\w)`, 'i')
}
const LOCAL = new Set(['node_modules', '.git', '.env'])
const FORBIDDEN = new Set([
  'common',
  'utils',
  'util',
  'helpers',
  'service',
  'services',
  'manager',
  'v2',
])

function documents(): { readonly path: string; readonly text: string }[] {
  return [...PARTS.flatMap((part) => filesBelow(part)), 'README.md', 'CONTRIBUTING.md']
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
}

describe('names', () => {
  it('the top level holds only what it may', () => {
    const strangers = readdirSync(ROOT).filter(
      (name) => !ROOT_ALLOWED.has(name) && !LOCAL.has(name) && !name.startsWith('.data'),
    )
    expect(strangers).toEqual([])
  })

  it('no folder is called after nothing in particular', () => {
    const paths = PARTS.flatMap((part) => filesBelow(part))
    const bad = paths.filter((path) => path.split('/').some((part) => FORBIDDEN.has(part)))
    expect(bad).toEqual([])
  })

  it('files are kebab-case, and no barrel hides what a folder exports', () => {
    const bad = sourceFiles()
      .map(({ path }) => path)
      .filter((path) => {
        const name = path.split('/').at(-1) ?? ''
        return (
          !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|config|d))?\.tsx?$/.test(name) || /^index\./.test(name)
        )
      })
    expect(bad).toEqual([])
  })

  it('no default export, no enum, no loose end', () => {
    const bad = sourceFiles()
      .filter(({ path }) => !path.endsWith('.config.ts') && !path.startsWith('test/architecture/'))
      .flatMap(({ path, text }) =>
        [/^export default /m, /^\s*(export )?(const )?enum /m, /\b(TODO|FIXME|XXX)\b/]
          .filter((pattern) => pattern.test(text))
          .map((pattern) => `${path}: ${pattern}`),
      )
    expect(bad).toEqual([])
  })

  it('words that were replaced have not come back', () => {
    const never = neverWords()
    const bad = PARTS.flatMap((part) => filesBelow(part))
      .filter((path) => /\.(tsx?|md|sql|css)$/.test(path))
      .filter((path) => !path.startsWith('test/architecture/') && path !== 'domain/glossary.md')
      .flatMap((path) => {
        const text = readFileSync(join(ROOT, path), 'utf8').replace(EXCEPTIONS, '')
        const patterns = [REPLACED, never, ...(path.startsWith('test/relay/') ? [] : [PARTICIPLES])]
        const found = patterns.map((pattern) => pattern.exec(text)?.[0])
        return found.flatMap((word) => (word === undefined ? [] : [`${path}: ${word}`]))
      })
    expect(bad).toEqual([])
  })

  it('.tsx lives in the console alone', () => {
    const bad = sourceFiles().filter(
      ({ path }) => path.endsWith('.tsx') && !/^(console|test\/console)\//.test(path),
    )
    expect(bad.map(({ path }) => path)).toEqual([])
  })

  it('READMEs stay short enough to be read', () => {
    const long = ['', ...PARTS]
      .flatMap((part) => (part === '' ? ['README.md'] : filesBelow(part)))
      .filter((path) => path.endsWith('README.md') && path !== 'README.md')
      .map((path) => ({ path, lines: readFileSync(join(ROOT, path), 'utf8').split('\n').length }))
      .filter(({ lines }) => lines > 100)
    expect(long).toEqual([])
  })

  it('no line of Markdown is wider than 120', () => {
    const wide = documents().flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const width = [...line].length
        return width > 120 ? [`${path}:${index + 1} (${width})`] : []
      }),
    )
    expect(wide).toEqual([])
  })

  it('links of guides and READMEs lead to files', () => {
    const broken = documents().flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)]
        .filter(([, link = '']) => !existsSync(join(ROOT, dirname(path), link)))
        .map(([, link]) => `${path}: ${link}`),
    )
    expect(broken).toEqual([])
  })

  it('source files named in guides and READMEs exist', () => {
    const paths = PARTS.flatMap((part) => filesBelow(part)).map((path) => `/${path}`)
    const missing = documents().flatMap(({ path, text }) =>
      [...text.matchAll(/`([\w./-]+\.tsx?)`/g)]
        .filter(
          ([, name = '']) => !paths.some((each) => each.endsWith(`/${name.replace(/^\.+\//, '')}`)),
        )
        .map(([, name]) => `${path}: ${name}`),
    )
    expect(missing).toEqual([])
  })

  it('the lock file names no registry', () => {
    expect(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved"/)
  })
})
