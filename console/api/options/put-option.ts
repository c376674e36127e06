import { ApiError } from '../api-error.ts'
import { request } from '../request.ts'

/**
 * `before`: as it was read; refused where somebody has set another value since. Answers what there
 * is to know of what was saved; empty for nothing.
 */
export async function putOption(key: string, value: string, before: string): Promise<string> {
  const body = { key, value, before }
  return (await request({ method: 'PUT', path: '/api/option/', body })).message
}

export const isChangedMeanwhile = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'OptionChanged'
