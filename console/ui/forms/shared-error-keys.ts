/** The validation errors that have the same text in all forms. */
const SHARED_ERROR_KEYS = [
  'notNumber',
  'negative',
  'notInteger',
  'notJson',
  'expiryPast',
  'modelsMissing',
] as const

type SharedErrorKey = (typeof SHARED_ERROR_KEYS)[number]

export const isSharedErrorKey = (errorKey: string): errorKey is SharedErrorKey =>
  SHARED_ERROR_KEYS.some((shared) => shared === errorKey)
