import { z } from 'zod'
import type { Sealed } from '#domain/shared/event.ts'

/** An `int8` column read as a number; a value beyond ±(2^53 − 1) is a bug and throws. */
export const wireInteger = z
  .bigint()
  .refine((value) => Number.isSafeInteger(Number(value)), 'beyond 2^53')
  .transform(Number)

/** An `int8` column that holds quota. */
export const quota = z.bigint()

/** A `timestamptz` column: ISO text in UTC, with milliseconds. */
export const isoTime = z.iso.datetime()

/** A `numeric` column: its exact text. */
export const decimalText = z.string()

/** A text that only its owner's key opens; null where there is none. */
export const sealedText = z
  .string()
  .nullable()
  .transform((text) => text as Sealed | null)
