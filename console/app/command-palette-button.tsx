import { lazy, Suspense, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '#console/ui/elements/button.tsx'
import { showError } from '#console/ui/messages/toast.ts'
import { useActionKeys } from '../ui/actions/use-action-keys.ts'
import { PALETTE_KEYS } from './shortcut-key-symbols.tsx'
import { useShellCommands } from './use-shell-commands.ts'
import './commands.css'

const load = {
  palette: () => import('./command-palette.tsx'),
  sheet: () => import('./shortcut-sheet.tsx'),
}
const CommandPalette = lazy(async () => ({ default: (await load.palette()).CommandPalette }))
const ShortcutSheet = lazy(async () => ({ default: (await load.sheet()).ShortcutSheet }))

const IDLE_MS = 3_000

type Dialog = keyof typeof load
type OpenDialog = Dialog | null

export function CommandPaletteButton() {
  const { t } = useTranslation()
  const [openDialog, setOpenDialog] = useState<OpenDialog>(null)
  const [mounted, setMounted] = useState<ReadonlySet<OpenDialog>>(new Set())
  const show = async (dialog: Dialog) => {
    try {
      // The code of the dialog is loaded before the dialog is rendered. If loading fails, the user
      // can try again.
      await load[dialog]()
      setMounted((before) => new Set([...before, dialog]))
      setOpenDialog(dialog)
    } catch {
      showError(new Error(t('request.network')))
    }
  }
  const close = () => setOpenDialog(null)
  useShellCommands(() => void show('sheet'))
  useActionKeys(
    () => (openDialog === 'palette' ? close() : void show('palette')),
    openDialog !== null,
  )
  useEffect(fetchWhenIdle, [])
  return (
    <>
      <Button
        tone="quiet"
        icon="search"
        label={t('commands.paletteKeys', { keys: PALETTE_KEYS })}
        onClick={() => void show('palette')}
      />
      <Suspense>
        {mounted.has('palette') && (
          <CommandPalette isOpen={openDialog === 'palette'} onClose={close} />
        )}
        {mounted.has('sheet') && <ShortcutSheet isOpen={openDialog === 'sheet'} onClose={close} />}
      </Suspense>
    </>
  )
}

function fetchWhenIdle(): () => void {
  const timer = setTimeout(() => void load.palette().catch(() => {}), IDLE_MS)
  return () => clearTimeout(timer)
}
