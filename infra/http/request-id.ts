import { randomUUID } from 'node:crypto'

/** Ours, never the caller's: it names the request in answers, logs and events. */
export const requestId = (): string => randomUUID()
