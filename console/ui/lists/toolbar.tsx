import type { ReactNode } from 'react'

export function Toolbar(props: { label: string; children: ReactNode; end?: ReactNode }) {
  return (
    <search className="tg-toolbar" aria-label={props.label}>
      <div className="tg-toolbar-start">{props.children}</div>
      {props.end === undefined ? null : <div className="tg-toolbar-end">{props.end}</div>}
    </search>
  )
}
