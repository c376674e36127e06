import type { ReactNode } from 'react'

/** For use inside a `dl`. */
export function LabelledValue(props: { name: ReactNode; className?: string; children: ReactNode }) {
  return (
    <div>
      <dt>{props.name}</dt>
      <dd className={props.className}>{props.children}</dd>
    </div>
  )
}
