#include "cli/help.h"

static void add_options(loci_buf *out, const loci_option *options)
{
    for (; options && options->name; options++) {
        char left[64];
        (void)snprintf(left, sizeof left, "--%s%s%s", options->name, options->value ? " " : "",
                       options->value ? options->value : "");
        loci_buf_printf(out, "  %-24s %s\n", left, options->help);
    }
}

void loci_help_overview(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    loci_buf_add_cstr(out, "loci: memory for agents\n\n"
                           "usage: loci [--config FILE] [--org NAME] [--json] COMMAND ...\n\n");
    for (size_t i = 0; i < count; i++)
        if (!commands[i].hidden)
            loci_buf_printf(out, "  %-24s %s\n", commands[i].name, commands[i].help);
    loci_buf_add_cstr(out, "\nOn every command:\n");
    add_options(out, loci_global_options());
    loci_buf_add_cstr(out, "  --SETTING VALUE          any setting that loci config lists\n\n"
                           "loci COMMAND --help says more about one command.\n");
}

void loci_help_command(loci_buf *out, const loci_command *command)
{
    loci_buf_printf(out, "usage: loci %s%s%s\n\n%s.\n", command->name, command->usage[0] ? " " : "",
                    command->usage, command->help);
    if (command->details) loci_buf_printf(out, "\n%s\n", command->details);
    if (command->options) {
        loci_buf_add_cstr(out, "\n");
        add_options(out, command->options);
    }
    loci_buf_add_cstr(out, "\nOn every command:\n");
    add_options(out, loci_global_options());
}
