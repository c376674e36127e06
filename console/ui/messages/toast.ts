import { ApiError } from '#console/api/api-error.ts'
import { createStore } from '../state/create-store.ts'

export type Toast = {
  id: number
  tone: 'success' | 'error' | 'warning' | 'info'
  message: string
  /** The server's message, or an empty text if `message` already contains it. */
  detail: string
  requestId: string
  /**
   * The number of times that the message was shown. Messages with the same text and tone share one
   * toast.
   */
  count: number
  action: { text: string; onClick: () => void } | null
  /**
   * True if the toast remains when another page is opened, for example because it offers an undo.
   */
  staysOnNavigation: boolean
  /**
   * The time (ms) for which the toast is shown. The timer stops while the mouse or the focus is on
   * the toast.
   */
  stayMs: number
  /** The time at which the toast appeared, on the clock of `performance.now()` (ms). */
  at: number
}

type ToastOptions = {
  action?: { text: string; onClick: () => void }
  stayMs?: number
  /**
   * True if the toast remains when another page is opened. A toast with an action always remains.
   */
  staysOnNavigation?: boolean
}

const SHOWN_MAX = 3
const STAY_MS = 5_000
const STAY_MS_ACTION = 8_000
const STAY_MS_ERROR = 10_000
const JUST_NOW_MS = 1_000

const toasts = createStore<readonly Toast[]>([])
let lastId = 0

/**
 * Shows that an action succeeded. Removes the errors of earlier attempts, because they no longer
 * apply.
 */
export function showSuccess(message: string, options: ToastOptions = {}): void {
  dismissErrors()
  show('success', { message }, options)
}

/** Removes all toasts of errors that are older than a second. */
export function dismissErrors(): void {
  keepOnly(({ tone, at }) => tone !== 'error' || performance.now() - at <= JUST_NOW_MS)
}

export const showInfo = (message: string, options: ToastOptions = {}): void =>
  show('info', { message }, options)

export const showWarning = (message: string, options: ToastOptions = {}): void =>
  show('warning', { message }, options)

/**
 * Shows the message of an error. If the server's message is a different text, shows both. Shows
 * nothing for a `CancelledError`.
 */
export function showError(error: unknown, options: ToastOptions = {}): void {
  if (error instanceof CancelledError) return
  const message = error instanceof Error ? error.message : String(error)
  const requestId = error instanceof ApiError && error.status >= 400 ? error.requestId : ''
  const detail = error instanceof ApiError ? error.detail : ''
  show('error', { message, detail, requestId }, options)
}

export const dismissToast = (id: number): void => keepOnly((toast) => toast.id !== id)

/**
 * Removes the toasts of errors without a request id, such as the validation errors of the console.
 */
export function dismissLocalErrors(): void {
  keepOnly(({ tone, requestId }) => tone !== 'error' || requestId !== '')
}

export const dismissPageToasts = (): void => keepOnly(({ staysOnNavigation }) => staysOnNavigation)

export const shownToasts = toasts.get
export const useToasts = toasts.useValue

function keepOnly(isKept: (toast: Toast) => boolean): void {
  if (!shownToasts().every(isKept)) toasts.set(shownToasts().filter(isKept))
}

type ToastTexts = { message: string; detail?: string; requestId?: string }

/**
 * Shows a toast. If a toast with the same message and tone is shown already, the new toast replaces
 * it and has a higher count. Only the three newest toasts remain.
 */
function show(tone: Toast['tone'], texts: ToastTexts, options: ToastOptions) {
  const { message, detail = '', requestId = '' } = texts
  const equal = shownToasts().find((toast) => toast.tone === tone && toast.message === message)
  const rest = shownToasts().filter((toast) => toast !== equal)
  lastId += 1
  const toast: Toast = {
    id: lastId,
    tone,
    message,
    detail,
    requestId,
    count: (equal?.count ?? 0) + 1,
    action: options.action ?? null,
    staysOnNavigation: options.staysOnNavigation === true || options.action !== undefined,
    stayMs: options.stayMs ?? stayMs(tone, options.action !== undefined),
    at: performance.now(),
  }
  toasts.set([...rest, toast].slice(-SHOWN_MAX))
}

function stayMs(tone: Toast['tone'], hasAction: boolean): number {
  if (tone === 'error') return STAY_MS_ERROR
  return hasAction ? STAY_MS_ACTION : STAY_MS
}

/**
 * Thrown if the user cancels a dialog. This error ends the action that opened the dialog. The error
 * is not shown to the user.
 */
export class CancelledError extends Error {}
