import { type ReactElement, type ReactNode, useId } from 'react'
import { Overlay } from './overlay.tsx'

/** A dialog with a title. Its content is mounted with each opening, so that it starts fresh. */
export function Dialog(props: {
  isOpen: boolean
  title: ReactNode
  /** Below the title; it describes the dialog. */
  lead?: ReactNode
  /** Classes beside that of every dialog. */
  className?: string
  /** `alertdialog` for a question. */
  role?: 'dialog' | 'alertdialog'
  onOpened?: (panel: HTMLElement) => void
  /** The buttons at the end. */
  foot?: ReactNode
  onClose: () => void
  children?: ReactNode
}): ReactElement {
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
