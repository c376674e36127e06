import type { ReactElement } from 'react'
import { Alert } from '../messages/alert.tsx'

/** The error message of the server inside the form that caused it. */
export const Refusal = ({ text }: { text: string }): ReactElement | null =>
  text === '' ? null : <Alert tone="bad">{text}</Alert>
