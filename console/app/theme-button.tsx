import type { ReactElement } from 'react'
import { useTranslation } from 'react-i18next'
import { chooseTheme, useTheme } from '#console/theme/theme-mode.ts'
import { Button } from '#console/ui/button.tsx'

export function ThemeButton(): ReactElement {
  const { t } = useTranslation()
  const isDark = useTheme() === 'dark'
  return (
    <Button
      tone="quiet"
      icon={isDark ? 'sun' : 'moon'}
      label={isDark ? t('shell.toLight') : t('shell.toDark')}
      onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
    />
  )
}
