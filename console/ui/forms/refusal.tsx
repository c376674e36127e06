import type { ReactElement } from 'react'
import { Icon } from '../elements/icons.tsx'

/** The error message of the server inside the form that caused it. */
export function Refusal({ text }: { text: string }): ReactElement | null {
  if (text === '') return null
  return (
    <p className="tg-alert tg-alert-bad" role="alert">
      <Icon name="alert" />
      {text}
    </p>
  )
}
