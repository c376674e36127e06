import type { Words } from '#console/i18n/words-type.ts'
import type { Tone } from '#console/ui/status-tag.tsx'

type Status = keyof Words['taskLogs']['status']
type Action = keyof Words['taskLogs']['action']
type Code = keyof Words['taskLogs']['code']

/** An empty status is one of a task that is being submitted. */
export const STATUS_TONES: Readonly<Record<Status, Tone>> = {
  SUBMITTING: 'neutral',
  NOT_START: 'neutral',
  SUBMITTED: 'lime',
  QUEUED: 'lime',
  IN_PROGRESS: 'info',
  MODAL: 'warn',
  SUCCESS: 'good',
  FAILURE: 'bad',
  UNKNOWN: 'neutral',
}

/** Colours of `GroupBadge`. */
export const ACTION_COLORS: Readonly<Record<Action, string>> = {
  IMAGINE: 'blue',
  UPSCALE: 'orange',
  VARIATION: 'purple',
  HIGH_VARIATION: 'purple',
  LOW_VARIATION: 'purple',
  PAN: 'cyan',
  DESCRIBE: 'yellow',
  BLEND: 'green',
  UPLOAD: 'blue',
  SHORTEN: 'pink',
  REROLL: 'cyan',
  INPAINT: 'pink',
  ZOOM: 'green',
  CUSTOM_ZOOM: 'green',
  MODAL: 'orange',
  SWAP_FACE: 'red',
  MUSIC: 'blue',
  LYRICS: 'yellow',
}

/** What providers answer as a drawing is handed in. */
export const CODES: Readonly<Record<number, { readonly name: Code; readonly tone: Tone }>> = {
  0: { name: 'none', tone: 'bad' },
  1: { name: 'taken', tone: 'good' },
  21: { name: 'waiting', tone: 'lime' },
  22: { name: 'duplicate', tone: 'warn' },
}

const known = <Name extends string>(names: Readonly<Record<Name, unknown>>, name: string) =>
  Object.hasOwn(names, name) ? (name as Name) : null

export const statusName = (status: string): Status | null =>
  known(STATUS_TONES, status === '' ? 'SUBMITTING' : status)
export const actionName = (action: string): Action | null => known(ACTION_COLORS, action)
