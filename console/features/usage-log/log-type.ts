import type { Tone } from '#console/ui/elements/status-tag.tsx'

type LogTypeName = 'topUp' | 'call' | 'admin' | 'system' | 'checkIn' | 'error'

const NAMES: Readonly<Record<number, LogTypeName>> = {
  1: 'topUp',
  2: 'call',
  3: 'admin',
  4: 'system',
  5: 'checkIn',
  6: 'error',
}

export const TYPE_TONES: Readonly<Record<LogTypeName, Tone>> = {
  topUp: 'good',
  call: 'neutral',
  admin: 'info',
  system: 'info',
  checkIn: 'lime',
  error: 'bad',
}

export const CONSUMPTION = 2
export const ERROR = 6

export const typeName = (type: number): LogTypeName | null => NAMES[type] ?? null
