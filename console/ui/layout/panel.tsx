import { type ReactNode, useId } from 'react'

export function Panel(props: {
  title?: ReactNode
  lead?: ReactNode
  actions?: ReactNode
  /** True for a panel with a list. The list extends to the edges of the panel. */
  isFlush?: boolean
  children?: ReactNode
}) {
  const id = useId()
  const classes = ['tg-panel']
  if (props.isFlush === true) classes.push('tg-panel-flush')
  if (props.children === undefined) classes.push('tg-panel-bare')
  const hasHead = props.title !== undefined || props.actions !== undefined
  return (
    <section
      className={classes.join(' ')}
      aria-labelledby={props.title === undefined ? undefined : id}
    >
      {hasHead && (
        <header className="tg-panel-head">
          <div>
            {props.title === undefined ? null : <h2 id={id}>{props.title}</h2>}
            {props.lead === undefined ? null : <p>{props.lead}</p>}
          </div>
          {props.actions === undefined ? null : <div className="tg-actions">{props.actions}</div>}
        </header>
      )}
      {props.children === undefined ? null : <div className="tg-panel-body">{props.children}</div>}
    </section>
  )
}
