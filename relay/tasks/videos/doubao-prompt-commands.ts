import type { JsonObject } from '#relay/canonical/json-values.ts'

/**
 * Matches commands in a prompt, such as `--dur 10` and `--rs 1080p`. The vendor obeys such
 * commands. They are read and removed from the prompt, because a video could otherwise be longer
 * than its reserved quota covers. At most one space before a command matches, because a long run of
 * spaces would be searched again from each space.
 */
const COMMAND =
  /\s?--(rs|resolution|rt|ratio|dur|duration|frames|fps|framespersecond|seed|cf|camerafixed|wm|watermark)(?:\s+|=)(\S+)/gi

/** The full names of the commands that are written with a short name. */
const FULL_NAMES: ReadonlyMap<string, string> = new Map([
  ['rs', 'resolution'],
  ['rt', 'ratio'],
  ['dur', 'duration'],
  ['cf', 'camerafixed'],
  ['wm', 'watermark'],
])

/**
 * The members of a request to the vendor that do the same as a command. The gateway follows no
 * other commands. For example, `--frames` would change the length of the video.
 */
const MEMBERS: ReadonlyMap<string, string> = new Map([
  ['resolution', 'resolution'],
  ['ratio', 'ratio'],
  ['duration', 'duration'],
  ['seed', 'seed'],
  ['camerafixed', 'camera_fixed'],
  ['watermark', 'watermark'],
])

type Command = {
  /** The name in lower case, as the prompt has it. */
  readonly written: string
  readonly name: string
  /** The value in lower case. */
  readonly value: string
}

const listOfCommands = (prompt: string | null): readonly Command[] =>
  [...(prompt ?? '').matchAll(COMMAND)].map(([, name = '', value = '']) => {
    const written = name.toLowerCase()
    return { written, name: FULL_NAMES.get(written) ?? written, value: value.toLowerCase() }
  })

/** The values of the commands in a prompt, by their full names. Of equal names, the last counts. */
export type Commands = ReadonlyMap<string, string>

export const commandsOf = (prompt: string | null): Commands =>
  new Map(listOfCommands(prompt).map(({ name, value }) => [name, value]))

/** Returns the name of a command for errors, as the prompt has it, such as `prompt --rs`. */
export function nameOfCommand(prompt: string | null, name: string): string {
  const command = listOfCommands(prompt).findLast((one) => one.name === name)
  return `prompt --${command?.written ?? name}`
}

const SEED_MAX = 2 ** 32 - 1

/** Returns the value of `--seed`; null if there is none that the vendor accepts. */
export function seedIn(commands: Commands): number | null {
  const text = commands.get('seed') ?? ''
  const seed = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN
  return seed >= -1 && seed <= SEED_MAX ? seed : null
}

const SWITCHES: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
])

/** Returns the value of a command that turns something on or off; null if it has another value. */
export const switchIn = (commands: Commands, name: 'camerafixed' | 'watermark'): boolean | null =>
  SWITCHES.get(commands.get(name) ?? '') ?? null

/**
 * Returns the commands in a prompt, such as `prompt --frames`, whose value is not the value that
 * `body`, the request to the vendor, has for the same purpose.
 */
export function unreadCommands(prompt: string | null, body: JsonObject): readonly string[] {
  const unread = listOfCommands(prompt).filter(({ name, value }) => {
    const sent = body[MEMBERS.get(name) ?? '']
    return value !== sent && Number(value) !== sent && SWITCHES.get(value) !== (sent ?? null)
  })
  return [...new Set(unread.map(({ written }) => `prompt --${written}`))]
}

/**
 * Returns a prompt without its commands. The removal can form new commands, but only in a prompt
 * that was written for this purpose. In such a prompt, each run of hyphens is shortened to one
 * hyphen, because another pass over the text would cost as much as the first.
 */
export function withoutCommands(prompt: string | null): string {
  const text = (prompt ?? '').replace(COMMAND, '')
  return text.search(COMMAND) < 0 ? text : text.replace(/-{2,}/g, '-')
}
