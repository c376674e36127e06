import { type ReactNode, useId } from 'react'
import { Overlay } from './overlay.tsx'

/**
 * A dialog. Its content is mounted again each time the dialog opens, so that the content starts
 * with a fresh state.
 */
export function Dialog(props: {
  isOpen: boolean
  title: ReactNode
  lead?: ReactNode
  className?: string
  /** The role for screen readers: `alertdialog` for a question that must be answered. */
  role?: 'dialog' | 'alertdialog'
  onOpened?: (panel: HTMLElement) => void
  foot?: ReactNode
  onClose: () => void
  children?: ReactNode
}) {
  const id = useId()
  const { title, lead, className = '', foot, children, ...overlay } = props
  return (
    <Overlay
      {...overlay}
      labelledBy={id}
      describedBy={lead === undefined ? undefined : `${id}-lead`}
      className={`tg-dialog ${className}`.trim()}
    >
      <h2 id={id}>{title}</h2>
      {lead !== undefined && (
        <div id={`${id}-lead`} className="tg-dialog-body">
          {lead}
        </div>
      )}
      {children}
      {foot !== undefined && <div className="tg-dialog-foot">{foot}</div>}
    </Overlay>
  )
}
