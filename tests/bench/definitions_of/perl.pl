# Prints the definitions of Perl, found by PPI: path, line, name. Paths are read from standard input.
use strict; use warnings; use PPI;
while (my $path = <STDIN>) {
    chomp $path;
    my $tree = PPI::Document->new($path, readonly => 1) or next;
    $tree->index_locations;
    print "$path\t0\t\n";
    my $tell = sub { my ($at, $name, $sign) = @_; print "$path\t" . $at->location->[0] . "\t" . ($sign // "") . "$name\n" };
    for my $it (@{ $tree->find("PPI::Statement::Sub") || [] }) {
        next if $it->isa("PPI::Statement::Scheduled");
        (my $name = $it->name // "") =~ s/.*(?:::|')//;
        $tell->($it, $name) if $name && $it->block;
        $tell->($it, $name, "?") if $name && !$it->block;
    }
    $tell->($_, $_->namespace =~ s/::/./gr) for @{ $tree->find("PPI::Statement::Package") || [] };
    for my $it (@{ $tree->find("PPI::Statement::Include") || [] }) {
        next unless $it->type eq "use" && ($it->module // "") eq "constant";
        my @parts = $it->schildren;
        my $first = $parts[2] or next;
        if ($first->isa("PPI::Token::Word")) { $tell->($first, $first->content) }
        elsif ($first->isa("PPI::Token::Quote")) { $tell->($first, $first->string) }
        elsif ($first->isa("PPI::Structure::Constructor")) {
            for my $words (@{ $first->find("PPI::Token::Word") || [] }) {
                my $next = $words->snext_sibling;
                $tell->($words, $words->content) if $next && $next->content eq "=>" && $words->parent->parent == $first;
            }
        }
    }
    # Variables outside of functions.
    for my $it (@{ $tree->find("PPI::Statement::Variable") || [] }) {
        my ($up, $inside) = ($it->parent, 0);
        while ($up && !$up->isa("PPI::Document")) { $inside = 1 if $up->isa("PPI::Structure::Block") || $up->isa("PPI::Statement::Compound"); $up = $up->parent }
        for my $name ($it->variables) { (my $bare = $name) =~ s/^[\$\@%]//; $tell->($it, $bare, $inside || $it->type eq "local" ? "?" : "") }
    }
    # has name => ...; of Moose and Mojo.
    for my $it (@{ $tree->find("PPI::Statement") || [] }) {
        my @parts = $it->schildren;
        next unless @parts > 1 && $parts[0]->isa("PPI::Token::Word") && $parts[0]->content =~ /^(?:has|field|method|around|before|after|class|role)$/;
        for my $one ($it->tokens) {
            (my $bare = $one->content) =~ s/^[\$\@%'"+]+|['"]$//g;
            $tell->($one, $bare, "?") if $bare =~ /^\w+$/;
        }
    }
}
