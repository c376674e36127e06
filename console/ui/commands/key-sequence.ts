import type { Command } from './command.ts'

/** How long the first key of two waits for the second. */
export const SEQUENCE_MS = 1_500

export type Pressed = { readonly command: Command | null; readonly pending: string }

/**
 * What `key` means after `pending` (the first key of two, or empty). Pure. A second key that
 * completes nothing counts as a first one.
 */
export function press(commands: readonly Command[], pending: string, key: string): Pressed {
  const command = find(commands, pending === '' ? key : `${pending} ${key}`)
  if (command !== null) return { command, pending: '' }
  if (pending !== '') return press(commands, '', key)
  const begins = commands.some(({ keys }) => keys?.startsWith(`${key} `) === true)
  return { command: null, pending: begins ? key : '' }
}

/** Whether a key pressed there is meant for what has the focus: text, choices, open dialogs. */
export function isMeantForTarget(target: EventTarget | null): boolean {
  if (document.querySelector('[aria-modal="true"]') !== null) return true
  if (!(target instanceof Element)) return false
  const field = target.closest('input, select, textarea, [contenteditable=""], [role="menu"]')
  const isBox = field instanceof HTMLInputElement && /^(checkbox|radio|button)$/.test(field.type)
  return (field !== null && !isBox) || target.closest('[role="dialog"]') !== null
}

const find = (commands: readonly Command[], keys: string): Command | null =>
  commands.find((command) => command.keys === keys && command.act !== undefined) ?? null
