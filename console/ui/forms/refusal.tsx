import type { ReactElement } from 'react'
import { Alert } from '../messages/alert.tsx'

/** An error message of the server, inside the form that caused the error. */
export const Refusal = ({ text }: { text: string }): ReactElement | null =>
  text === '' ? null : <Alert tone="bad">{text}</Alert>
