/* The manual page, made from the tables of commands and settings. */
#include "base/config.h"
#include "cli/help.h"

/* mdoc gives a meaning to a dot or a quote at the start of a line and to every backslash, and wants
 * each sentence on a line of its own. */
static void add_mdoc_text(loci_buf *out, const char *text)
{
    bool line_start = true;

    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\'')) loci_buf_add_cstr(out, "\\&");
        if (*text == '\\')
            loci_buf_add_cstr(out, "\\e");
        else
            loci_buf_add_char(out, *text);
        if (*text == '.' && text[1] == ' ') {
            loci_buf_add_char(out, '\n');
            text++;
        }
        line_start = *text == '\n' || *text == ' ';
    }
    loci_buf_add_char(out, '\n');
}

static void add_mdoc_options(loci_buf *out, const loci_option *options)
{
    loci_buf_add_cstr(out, ".Bl -tag -width Ds\n");
    for (; options && options->name; options++) {
        loci_buf_printf(out, ".It Fl -%s%s%s\n", options->name, options->value ? " Ar " : "",
                        options->value ? options->value : "");
        add_mdoc_text(out, options->help);
    }
    loci_buf_add_cstr(out, ".El\n");
}

static void add_mdoc_command(loci_buf *out, const loci_command *command)
{
    loci_buf_printf(out, ".Ss loci %s %s\n", command->name, command->usage);
    add_mdoc_text(out, command->help);
    if (command->details) {
        loci_buf_add_cstr(out, ".Pp\n");
        add_mdoc_text(out, command->details);
    }
    if (command->options) add_mdoc_options(out, command->options);
}

static void add_mdoc_settings(loci_buf *out)
{
    loci_buf_add_cstr(out, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < loci_config_key_count; i++) {
        loci_buf_printf(out, ".It Cm %s\n", loci_config_keys[i].name);
        add_mdoc_text(out, loci_config_keys[i].help);
    }
    loci_buf_add_cstr(out, ".El\n");
}

void loci_help_manual(loci_buf *out)
{
    size_t count;
    const loci_command *commands = loci_commands(&count);

    loci_buf_add_cstr(out, ".Dd November 18, 2026\n.Dt LOCI 1\n.Os\n.Sh NAME\n.Nm loci\n"
                           ".Nd memory for agents\n.Sh SYNOPSIS\n.Nm\n.Op Fl -config Ar FILE\n"
                           ".Op Fl -json\n.Ar COMMAND ...\n.Sh DESCRIPTION\n"
                           "One program that remembers for agents.\n"
                           "Options may stand before and after the command.\n.Sh OPTIONS\n");
    add_mdoc_options(out, loci_global_options());
    loci_buf_add_cstr(out, ".Sh COMMANDS\n");
    for (size_t i = 0; i < count; i++)
        if (!commands[i].hidden) add_mdoc_command(out, &commands[i]);
    loci_buf_add_cstr(out, ".Sh SETTINGS\n"
                           "Each is a line in the configuration file, an environment variable and\n"
                           "an option of every command.\n");
    add_mdoc_settings(out);
    loci_buf_add_cstr(out, ".Sh EXIT STATUS\n0 when all is well, 1 when the operation failed, 2 "
                           "for wrong usage.\n");
}
