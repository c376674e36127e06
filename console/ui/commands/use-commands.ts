import { useEffect, useRef } from 'react'
import { type Command, registerCommands } from './command.ts'

/** Registers commands while the calling component is mounted. */
export function useCommands(commands: readonly Command[]): void {
  const latest = useRef(commands)
  useEffect(() => {
    latest.current = commands
  })
  useEffect(() => registerCommands(latest), [])
}
